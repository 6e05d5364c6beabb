import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import {
  type CompiledSchema,
  compileForSpi,
  identityOfNamespace,
  ourCatalogue,
  parseSchema,
  type SchemaCatalogue,
} from '#codecs/iso20022'
import { readZip } from './zip.ts'

/** Limits: XSD files read from SPI_SCHEMA_DIR, bytes of one, and bytes of an archive with them. */
export const schemaFilesMax = 500
export const schemaBytesMax = 4 * 1024 * 1024
export const archiveBytesMax = 64 * 1024 * 1024

/** The result for one file. */
export type SchemaReport = {
  /** Path in SPI_SCHEMA_DIR. */
  readonly file: string
  readonly outcome: 'loaded' | 'skipped' | 'failed'
  readonly type: string | undefined
  readonly version: string | undefined
  readonly reason: string | undefined
}

/** XSD files by name with folders. */
export type SchemaFiles = ReadonlyMap<string, Uint8Array>

export type LoadedSchemas = {
  readonly catalogue: SchemaCatalogue
  readonly report: readonly SchemaReport[]
  /** What the catalogue was made of, for a thread that makes its own; undefined without files. */
  readonly files: SchemaFiles | undefined
}

/** Returns only the schemas that are part of the program. */
export const builtInSchemas: LoadedSchemas = {
  catalogue: ourCatalogue,
  report: [],
  files: undefined,
}

/** The catalogue that the files of {@link LoadedSchemas} make. */
export const catalogueOf = (files: SchemaFiles | undefined): SchemaCatalogue =>
  files === undefined
    ? ourCatalogue
    : compiled(new Map([...files].map(([name, bytes]) => [name, () => bytes]))).catalogue

/**
 * Compiles the message schemas of a folder (with its subfolders) or a zip archive; for a version that it lacks we use
 * our own. A file that we cannot compile is reported, not fatal; if two files have one version, the first by name
 * counts.
 *
 * @throws Error, naming the setting, when we cannot read folder or archive
 */
export const loadSchemas = (path: string): LoadedSchemas => {
  let files: Files
  try {
    files = filesOf(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`SPI_SCHEMA_DIR: ${reason}`, { cause: error })
  }
  return { ...compiled(files), files: readable(files) }
}

/** The files that can be read; of another one the report tells. */
const readable = (files: Files): SchemaFiles =>
  new Map(
    [...files].flatMap(([name, read]): [string, Uint8Array][] => {
      try {
        return [[name, read()]]
      } catch {
        return []
      }
    }),
  )

const compiled = (files: Files): Omit<LoadedSchemas, 'files'> => {
  const loaded = new Map<string, Loaded>()
  const report = [...files.keys()].sort().map((file) => loadOne(file, files, loaded))
  return {
    report,
    catalogue: {
      schemaOf: (type, version) =>
        loaded.get(`${type} ${version}`)?.schema ?? ourCatalogue.schemaOf(type, version),
      versionsOf: (type) => [
        ...ourCatalogue.versionsOf(type),
        ...[...loaded.keys()]
          .filter((key) => key.startsWith(`${type} `))
          .map((key) => key.slice(type.length + 1)),
      ],
    },
  }
}

type Loaded = { readonly file: string; readonly schema: CompiledSchema }

/** Sorted by name with folders. */
type Files = ReadonlyMap<string, () => Uint8Array>

/** Files that an archiver of macOS adds beside each file. */
const byproduct = /(?:^|\/)(?:__MACOSX\/|\._)/

const filesOf = (path: string): Files => {
  const all: (readonly [string, () => Uint8Array])[] = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => [
        name,
        () => readFileBounded(join(path, name), schemaBytesMax),
      ])
    : readZip(readFileBounded(path, archiveBytesMax)).map(({ name, read }) => [
        name,
        () => read(schemaBytesMax),
      ])
  const schemas = all.filter(([name]) => /\.xsd$/i.test(name) && !byproduct.test(name))
  if (schemas.length === 0) throw new Error(`${path} holds no .xsd file`)
  if (schemas.length > schemaFilesMax) {
    throw new Error(`${path} holds more than ${schemaFilesMax} .xsd files`)
  }
  return new Map(schemas.map(([name, read]) => [name, once(read)]))
}

const once = (read: () => Uint8Array): (() => Uint8Array) => {
  let bytes: Uint8Array | undefined
  return () => {
    bytes ??= read()
    return bytes
  }
}

/** Finds an included file: relative to the including file's folder, else the only file with that name anywhere. */
const included = (file: string, location: string, files: Files): Uint8Array | undefined => {
  const beside = files.get(normalize(join(dirname(file), location)))
  if (beside !== undefined) return beside()
  const [only, ...more] = [...files].filter(([name]) => basename(name) === basename(location))
  return more.length === 0 ? only?.[1]() : undefined
}

const readFileBounded = (path: string, bytesMax: number): Uint8Array => {
  if (statSync(path).size > bytesMax) throw new Error(`${path} has over ${bytesMax} bytes`)
  return new Uint8Array(readFileSync(path))
}

const loadOne = (file: string, files: Files, loaded: Map<string, Loaded>): SchemaReport => {
  const skipped = (reason: string): SchemaReport => ({
    file,
    outcome: 'skipped',
    type: undefined,
    version: undefined,
    reason,
  })
  try {
    const model = parseSchema(file, (name) =>
      name === file ? files.get(file)?.() : included(file, name, files),
    )
    const identity = identityOfNamespace(model.targetNamespace)
    if (identity === undefined) {
      return skipped('its target namespace is no message version of the SPI')
    }
    const { type, version } = identity
    const key = `${type} ${version}`
    const other = loaded.get(key)
    if (other !== undefined) return skipped(`${key} is loaded from ${other.file}`)
    loaded.set(key, { file, schema: compileForSpi(model) })
    return { file, outcome: 'loaded', type, version, reason: undefined }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { file, outcome: 'failed', type: undefined, version: undefined, reason }
  }
}
