export {
  compileForSpi,
  knownVersions,
  ourCatalogue,
  type SchemaCatalogue,
  schemaText,
} from './catalogue.ts'
export {
  type Certainty,
  isMessageType,
  isRevision,
  type MessageType,
  messageTypes,
  type Revision,
  revisions,
  revisionsOf,
  type VersionEntry,
  versionOf,
} from './revisions.ts'
