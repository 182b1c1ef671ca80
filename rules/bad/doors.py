"""What the rules of doors.yml must find, and what they must let pass. Never run."""

import asyncio
import html
import socket
import ssl

# ruleid: web-framework-outside-the-service
import fastapi

# ruleid: way-out-past-the-one
import httpx
import httpx2

# ruleid: way-out-past-the-one
import requests

# ruleid: way-out-past-the-one
import urllib.request

# ruleid: web-framework-outside-the-service
from starlette.responses import HTMLResponse

# ruleid: way-out-past-the-one
from urllib.request import urlopen


async def go(host):
    # ruleid: way-out-past-the-one
    httpx2.AsyncClient()
    # ruleid: way-out-past-the-one
    await asyncio.open_connection(host, 80)
    # ruleid: way-out-past-the-one
    socket.create_connection((host, 80))
    # ruleid: way-out-past-the-one
    socket.socket()


def trust(context, client):
    # ruleid: certificate-not-checked
    client.open(verify=False)
    # ruleid: certificate-not-checked
    context.verify_mode = ssl.CERT_NONE
    # ruleid: certificate-not-checked
    context.check_hostname = False


def write(said, title, parser):
    # ruleid: html-outside-the-renderer
    yield f"<p>{said}</p>"
    # ruleid: html-outside-the-renderer
    yield f"<li>{title}"
    # ruleid: html-outside-the-renderer
    yield f'<a href="{said}">{title}</a>'
    # ruleid: html-outside-the-renderer
    yield html.escape(said)
    # ruleid: html-outside-the-renderer
    yield HTMLResponse(said)
    # ok: html-outside-the-renderer
    yield f"{said} < {title}"
    # ok: html-outside-the-renderer
    yield html.unescape(said)


def render(document):
    # ruleid: page-renderer-without-escape, html-outside-the-renderer
    yield f"<td>{document.title}</td>"
    # ruleid: html-outside-the-renderer
    yield f"<td>{escaped(document.title)}</td>"
