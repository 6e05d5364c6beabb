export {
  compileForSpi,
  knownVersions,
  nearestSchema,
  ourCatalogue,
  revisionsOf,
  type SchemaCatalogue,
  schemaText,
  versionOf,
} from './catalogue.ts'
export {
  type Certainty,
  type Revision,
  revisions,
  type VersionEntry,
} from './revisions.ts'
