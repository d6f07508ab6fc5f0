//! How long each format takes over a few hundred sessions: `cargo bench`.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use formats::FORMATS;
use hermes_sessions::export::{
    self, Encoding, Lineage, Listing, Names, Overwrite, Reach, Record, Renewal, Request, Target,
};
use hermes_sessions::filter::Selection;
use hermes_sessions::redact::Redactor;
use hermes_sessions::store::Shown;

mod sample;

fn every_format(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("there is room for a store");
    let store = sample::store(folder.path());
    let redactor = Arc::new(Redactor::none());
    let mut group = c.benchmark_group("export");
    for format in FORMATS {
        let output = folder.path().join(format.name);
        let target = match format.layout {
            formats::Layout::OneFile => Target::Stream,
            formats::Layout::FilePerSession | formats::Layout::Folder => Target::Folder(output),
        };
        let request = Request {
            selection: Selection::All,
            shown: Shown::All,
            lineage: Lineage::Single,
            redactor: redactor.clone(),
            jobs: NonZeroUsize::MIN,
            format,
            encoding: Encoding::Plain,
            target,
            names: Names::Usual,
            overwrite: Overwrite::Force,
            record: Record::Nothing,
            exported_at: 0.0,
            zone: jiff::tz::TimeZone::UTC,
            reach: Reach::Selected,
            listing: Listing::Unwanted,
            renewal: Renewal::All,
        };
        let run =
            || export::run(&store, &request, &mut io::sink(), &()).expect("it can be exported");
        group.throughput(Throughput::Elements(run().matched));
        group.bench_function(format.name, |b| b.iter(run));
    }
    group.finish();
}

criterion_group!(benches, every_format);
criterion_main!(benches);
