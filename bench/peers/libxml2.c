/*
 * libxml2 as a C program would use it, for benchmarks: documents lie one behind the other in one memory, and document
 * i ends before ends[i].
 */
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlschemas.h>
#include <stdint.h>
#include <string.h>

static long elements;

static void start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                  const xmlChar **declared, int attributes, int defaulted, const xmlChar **values) {
  elements++;
}
static void quiet(void *context, const char *message, ...) {}
static void quietly(void *context, xmlErrorPtr error) {}

/* Reads documents with the SAX2 interface and counts their elements, the cheapest that libxml2 offers; -1 if one is not
 * well-formed. */
int64_t scan(const char *bytes, const uint32_t *ends, int32_t count, int32_t times) {
  xmlSAXHandler handler;
  memset(&handler, 0, sizeof handler);
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = start;
  elements = 0;
  for (int32_t i = 0; i < times; i++) {
    int32_t at = i % count;
    uint32_t from = at == 0 ? 0 : ends[at - 1];
    xmlParserCtxtPtr parser = xmlCreateMemoryParserCtxt(bytes + from, ends[at] - from);
    xmlSAXHandlerPtr own = parser->sax;
    parser->sax = &handler;
    xmlParseDocument(parser);
    parser->sax = own;
    int32_t well_formed = parser->wellFormed;
    xmlFreeParserCtxt(parser);
    if (!well_formed) return -1;
  }
  return elements;
}

static xmlSchemaPtr schemas[64];
static xmlSchemaValidCtxtPtr validators[64];

/* Compiles the schema of a file; 0 if it is one. */
int32_t load_schema(int32_t index, const char *file) {
  xmlSchemaParserCtxtPtr parser = xmlSchemaNewParserCtxt(file);
  schemas[index] = xmlSchemaParse(parser);
  xmlSchemaFreeParserCtxt(parser);
  if (schemas[index] == NULL) return -1;
  validators[index] = xmlSchemaNewValidCtxt(schemas[index]);
  xmlSchemaSetValidErrors(validators[index], quiet, quiet, NULL);
  return 0;
}

/* Reads documents into trees and validates them by the schemas of these indexes; how many are valid. */
int64_t validate(const char *bytes, const uint32_t *ends, const uint8_t *kinds, int32_t count, int32_t times) {
  int64_t valid = 0;
  xmlSetStructuredErrorFunc(NULL, quietly);
  for (int32_t i = 0; i < times; i++) {
    int32_t at = i % count;
    uint32_t from = at == 0 ? 0 : ends[at - 1];
    xmlDocPtr document = xmlReadMemory(bytes + from, ends[at] - from, NULL, NULL, XML_PARSE_COMPACT);
    if (document == NULL) continue;
    if (xmlSchemaValidateDoc(validators[kinds[at]], document) == 0) valid++;
    xmlFreeDoc(document);
  }
  return valid;
}
