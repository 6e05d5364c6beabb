import type { SchemaCatalogue } from '#codecs/iso20022'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/telemetry/index.ts'
import type { SchemaSettings } from './config.ts'
import { builtInSchemas, loadSchemas } from './load.ts'
import { schemaRoutes } from './routes.ts'

export { type SchemaSettings, schemaSettings } from './config.ts'

/** The schemas in use: what other features validate with, and the endpoints about them. */
export type Schemas = Feature & { readonly catalogue: SchemaCatalogue }

/** @throws Error when SPI_SCHEMA_DIR cannot be read */
export const createSchemas = ({
  settings,
  logger,
}: {
  readonly settings: SchemaSettings
  readonly logger: Logger
}): Schemas => {
  const { folder, revision } = settings
  const loaded = folder === undefined ? builtInSchemas : loadSchemas(folder)
  for (const { file, outcome, reason } of loaded.report) {
    if (outcome === 'failed') logger.warn({ file, reason }, 'schema file was not loaded')
  }
  if (folder !== undefined) {
    const count = loaded.report.filter(({ outcome }) => outcome === 'loaded').length
    logger.info({ loaded: count, files: loaded.report.length }, 'schemas loaded')
  }
  return {
    name: 'schemas',
    catalogue: loaded.catalogue,
    routes: schemaRoutes(loaded, revision),
  }
}
