"""What the rules of code.yml must find, and what they must let pass. Never run."""

import os

# ruleid: code-from-data
import pickle

# ruleid: program-started
import subprocess

# ruleid: xml-parser
import xml.etree.ElementTree

# ruleid: code-from-data
import joblib

# ruleid: parser-outside-the-sandbox
import pypdfium2

# ruleid: code-from-data
import yaml

# ruleid: xml-parser
from lxml import etree

# ruleid: parser-outside-the-sandbox
from selectolax.lexbor import LexborHTMLParser


def runs(said, model):
    # ruleid: code-from-data
    eval(said)
    # ruleid: code-from-data
    exec(said)
    # ruleid: code-from-data
    open_model(model, trust_remote_code=True)
    # ruleid: code-from-data
    numpy.load(model, allow_pickle=True)
    # ruleid: code-from-data
    AutoModel.from_pretrained(model)
    # ok: code-from-data
    json.loads(said)
    # ok: code-from-data
    numpy.load(model)


async def starts(said):
    # ruleid: program-started
    os.system(said)
    # ruleid: program-started
    await asyncio.create_subprocess_shell(said)


def looks():
    # ruleid: environment-outside-settings
    os.environ["QUOTH_HOME"]
    # ruleid: environment-outside-settings
    os.environ.get("QUOTH_HOME")
    # ruleid: environment-outside-settings
    os.getenv("QUOTH_HOME")
