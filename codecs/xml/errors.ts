import { CodecError, type CodecErrorContext } from '#codecs/bytes'

/** Every reason for which a document is refused. Codes are append-only; the clause is of XML 1.0, 5th ed. */
const xmlErrorCodes = {
  document_too_large: 'the document is over the limit of bytes',
  depth_exceeded: 'elements nest deeper than the limit',
  attributes_exceeded: 'an element has more attributes than the limit',
  name_too_long: 'a name is over the limit of bytes',
  text_too_long: 'a run of text is over the limit of bytes',
  elements_exceeded: 'the document has more elements than the limit',
  encoding_unsupported: 'the document is not declared as UTF-8 (4.3.3)',
  utf8_invalid: 'the document is not valid UTF-8 (4.3.3)',
  character_forbidden: 'a character is outside the Char production (2.2)',
  doctype_forbidden: 'document type declarations are not accepted',
  processing_instruction_forbidden: 'processing instructions are not accepted',
  declaration_invalid: 'the XML declaration is not well-formed (2.8)',
  markup_invalid: 'a tag is not well-formed (3.1)',
  name_invalid: 'a name is not well-formed (2.3, Namespaces 4)',
  attribute_invalid: 'an attribute is not well-formed (3.1)',
  attribute_duplicate: 'an element has the same attribute twice (3.1, Namespaces 6.3)',
  attribute_less_than: "an attribute value holds a literal '<' (3.1)",
  reference_invalid: 'a reference is not well-formed (4.1)',
  entity_undefined: 'an entity other than the five predefined is referenced (4.1)',
  comment_invalid: "a comment is not well-formed or holds '--' (2.5)",
  cdata_invalid: 'a CDATA section is not well-formed or in the wrong place (2.7)',
  text_outside_root: 'there is text outside the root element (2.1)',
  cdata_end_in_text: "character data holds ']]>' (2.4)",
  tag_mismatch: 'an end tag does not match its start tag (3)',
  root_missing: 'the document has no root element (2.1)',
  content_after_root: 'there is a second root element (2.1)',
  document_truncated: 'the document ends inside markup or before its root element is closed',
  prefix_unbound: 'a prefix is not bound to a namespace (Namespaces 5)',
  namespace_invalid: 'a namespace declaration is not allowed (Namespaces 3)',
} as const

export type XmlErrorCode = keyof typeof xmlErrorCodes

export const xmlError = (
  code: XmlErrorCode,
  offset: number,
  context?: CodecErrorContext,
): CodecError => new CodecError(code, offset, xmlErrorCodes[code], context)
