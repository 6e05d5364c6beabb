import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  type CompiledSchema,
  compileForSpi,
  identityOfNamespace,
  ourCatalogue,
  parseSchema,
  type SchemaCatalogue,
} from '#codecs/iso20022'
import { readZip } from './zip.ts'

/** XSD files read from SPI_SCHEMA_DIR, and bytes of one. */
export const schemaFilesMax = 500
export const schemaBytesMax = 4 * 1024 * 1024

/** What became of one file. */
export type SchemaReport = {
  readonly file: string
  readonly outcome: 'loaded' | 'skipped' | 'failed'
  readonly type: string | undefined
  readonly version: string | undefined
  readonly reason: string | undefined
}

export type LoadedSchemas = {
  readonly catalogue: SchemaCatalogue
  readonly report: readonly SchemaReport[]
}

/** Only the schemas that are part of the program. */
export const builtInSchemas: LoadedSchemas = { catalogue: ourCatalogue, report: [] }

/**
 * Compiles the message schemas of a folder (with its subfolders) or a zip archive; where it has none for a
 * version, ours is used. A file that cannot be compiled is reported, not fatal.
 *
 * @throws Error, naming the setting, when folder or archive cannot be read
 */
export const loadSchemas = (path: string): LoadedSchemas => {
  let files: Files
  try {
    files = filesOf(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`SPI_SCHEMA_DIR: ${reason}`, { cause: error })
  }
  const schemas = new Map<string, CompiledSchema>()
  const report = [...files.keys()].sort().map((file) => loadOne(file, files, schemas))
  return {
    report,
    catalogue: {
      schemaOf: (type, version) =>
        schemas.get(`${type} ${version}`) ?? ourCatalogue.schemaOf(type, version),
    },
  }
}

type Files = ReadonlyMap<string, () => Uint8Array>

/** By name without folders: includes name their neighbours. */
const filesOf = (path: string): Files => {
  const all: (readonly [string, () => Uint8Array])[] = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => [
        name,
        () => readBounded(join(path, name)),
      ])
    : readZip(new Uint8Array(readFileSync(path))).map(({ name, read }) => [
        name,
        () => read(schemaBytesMax),
      ])
  const schemas = all.filter(([name]) => /\.xsd$/i.test(name))
  if (schemas.length === 0) throw new Error(`${path} holds no .xsd file`)
  if (schemas.length > schemaFilesMax) {
    throw new Error(`${path} holds more than ${schemaFilesMax} .xsd files`)
  }
  return new Map(schemas.map(([name, read]) => [basename(name), read]))
}

const readBounded = (path: string): Uint8Array => {
  if (statSync(path).size > schemaBytesMax) throw new Error(`over ${schemaBytesMax} bytes`)
  return new Uint8Array(readFileSync(path))
}

const loadOne = (
  file: string,
  files: Files,
  schemas: Map<string, CompiledSchema>,
): SchemaReport => {
  try {
    const model = parseSchema(file, (name) => files.get(basename(name))?.())
    const identity = identityOfNamespace(model.targetNamespace)
    if (identity === undefined) {
      const reason = 'its target namespace is no message version of the SPI'
      return { file, outcome: 'skipped', type: undefined, version: undefined, reason }
    }
    const { type, version } = identity
    schemas.set(`${type} ${version}`, compileForSpi(model))
    return { file, outcome: 'loaded', type, version, reason: undefined }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { file, outcome: 'failed', type: undefined, version: undefined, reason }
  }
}
