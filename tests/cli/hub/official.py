"""Sends files with Hugging Face's own client and reads them back; HF_ENDPOINT is the loopback Hub."""

from huggingface_hub import CommitOperationAdd, HfApi, hf_hub_download
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

api = HfApi()
assert api.whoami()["name"] == "alice"
dataset = "alice/official"
try:
    api.dataset_info(dataset)
    raise SystemExit("there is a dataset already")
except RepositoryNotFoundError:
    pass
api.create_repo(dataset, repo_type="dataset", private=True)
assert api.dataset_info(dataset).private is True
api.create_repo(dataset, repo_type="dataset", private=True, exist_ok=True)

files = {
    "README.md": b"---\ntags:\n- agent-traces\n---\n",
    "sessions/small.jsonl": b'{"type":"user"}\n',
    "sessions/a name.jsonl": b"",
    "sessions/large.jsonl": b"".join(b"line %d of many\n" % n for n in range(900_000)),
}
before = api.dataset_info(dataset).sha
adds = [CommitOperationAdd(path, content) for path, content in files.items()]
done = api.create_commit(
    dataset, adds, commit_message="Add files", repo_type="dataset", parent_commit=before
)
assert api.dataset_info(dataset).sha == done.oid != before

for entry in api.get_paths_info(dataset, [*files, "missing"], repo_type="dataset"):
    assert entry.size == len(files[entry.path]), entry
    assert (entry.lfs is not None) == (entry.path == "sessions/large.jsonl"), entry
for path, content in files.items():
    with open(hf_hub_download(dataset, path, repo_type="dataset"), "rb") as file:
        assert file.read() == content, path

# What is there already makes no second commit, and an old parent none at all.
adds = [CommitOperationAdd(path, content) for path, content in files.items()]
api.create_commit(dataset, adds, commit_message="Add again", repo_type="dataset")
assert api.dataset_info(dataset).sha == done.oid
try:
    adds = [CommitOperationAdd("sessions/late.jsonl", b"{}\n")]
    api.create_commit(
        dataset, adds, commit_message="Late", repo_type="dataset", parent_commit=before
    )
    raise SystemExit("an old parent was taken")
except HfHubHTTPError as error:
    assert error.response.status_code == 412, error
