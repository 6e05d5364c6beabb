import {
  createMessageScanner,
  type MessageScanner,
  messageTypes,
  type Revision,
  type SchemaCatalogue,
  versionOf,
} from '#codecs/iso20022'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { nativeText } from '#src/platform/runtime/index.ts'
import { createLargeDocuments, type LargeDocuments, largeBytesMin } from '../large/index.ts'
import type { SchemaSettings } from './config.ts'
import { builtInSchemas, loadSchemas, type SchemaReport } from './load.ts'
import { schemaRoutes } from './routes.ts'
import { validateMessage } from './service.ts'

export { type SchemaSettings, schemaSettings } from './config.ts'

/** The schemas in use: other features validate with them; this one has the endpoints about them. */
export type Schemas = Feature & {
  readonly catalogue: SchemaCatalogue
  /** For a caller that is done with one document before it scans another. */
  readonly scanner: MessageScanner
  /** Versions of SPI_SCHEMA_DIR, as `pacs.008 1.18`. */
  readonly learnedVersions: ReadonlySet<string>
  /** Reads by the same schemas what is too large for the event loop. */
  readonly large: LargeDocuments
}

/** @throws Error when SPI_SCHEMA_DIR cannot be read */
export const createSchemas = ({
  settings,
  logger,
}: {
  readonly settings: SchemaSettings
  readonly logger: Logger
}): Schemas => {
  const { folder, revision, learning } = settings
  const loaded = folder === undefined ? builtInSchemas : loadSchemas(folder)
  if (folder !== undefined) logReport(loaded.report, revision, logger)
  const scanner = createMessageScanner(nativeText, { learning })
  const large = createLargeDocuments({ files: loaded.files, learning })
  return {
    name: 'schemas',
    catalogue: loaded.catalogue,
    learnedVersions: new Set(versionsIn(loaded.report)),
    scanner,
    large,
    routes: schemaRoutes(
      loaded,
      revision,
      (message) =>
        message.length < largeBytesMin
          ? validateMessage(loaded.catalogue, scanner, message)
          : large.validate(message),
      large.validateBody,
    ),
    stop: large.close,
  }
}

const versionsIn = (report: readonly SchemaReport[]): readonly string[] =>
  report.flatMap(({ type, version }) => (type === undefined ? [] : [`${type} ${version}`]))

/** Logs the result of each file, and the versions that we send without a schema. */
const logReport = (report: readonly SchemaReport[], revision: Revision, logger: Logger): void => {
  for (const { file, outcome, reason } of report) {
    if (outcome === 'failed') logger.warn({ file, reason }, 'schema file was not loaded')
    if (outcome === 'skipped') logger.info({ file, reason }, 'schema file was left out')
  }
  const loaded = versionsIn(report)
  const sent = messageTypes.map((type) => `${type} ${versionOf(type, revision).version}`)
  logger.info(
    {
      files: report.length,
      loaded,
      revision,
      built_in: sent.filter((version) => !loaded.includes(version)),
    },
    'schemas loaded',
  )
}
