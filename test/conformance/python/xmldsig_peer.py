"""libxmlsec, by its Python binding. Arguments: verify PUBLIC_KEY.pem DOCUMENT.xml, or sign PRIVATE_KEY.pem DOCUMENT.xml."""

import sys

import xmlsec
from lxml import etree

XMLDSIG = "{http://www.w3.org/2000/09/xmldsig#}"

action, key_file, document_file = sys.argv[1:]
document = etree.parse(document_file)
signature = next(document.iter(XMLDSIG + "Signature"))
context = xmlsec.SignatureContext()
context.key = xmlsec.Key.from_file(key_file, xmlsec.KeyFormat.PEM)
context.register_id(signature.find(XMLDSIG + "KeyInfo"), "Id")
if action == "sign":
    # What stands there is only a form: the library computes digests and value anew.
    context.sign(signature)
    sys.stdout.buffer.write(etree.tostring(document))
else:
    try:
        context.verify(signature)
        print("valid")
    except xmlsec.Error:
        print("invalid")
