/**
 * Compiles the Solidity sources, each folder alone, and writes one artifact per contract, in `generated/` beside it.
 *
 *   bun scripts/contracts.ts          compile and write what changed; a folder as argument is compiled in any case
 *   bun scripts/contracts.ts --check  compare the stored fingerprints with the sources (no compiler)
 *
 * The fingerprint covers every source that went in, the library's included, the compiler's
 * version and its settings; a test compiles everything again and compares byte by byte.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
/** Largest deployed contract, EIP-170. */
export const contractBytesMax = 24_576

const found = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(root)]

/** Folders that hold sources of their own, or did when they were compiled. */
export const contractFolders: readonly string[] = [
  ...new Set([
    ...found('src/**/*.sol').map((name) => dirname(name)),
    ...found('src/**/generated/fingerprint.json').map((name) => dirname(dirname(name))),
  ]),
].sort()

/** Without a metadata trailer, the bytes depend on the sources and these settings alone. */
const settings = {
  evmVersion: 'shanghai',
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
} as const

const outputs = ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object']

export type Artifact = {
  readonly contractName: string
  readonly abi: readonly unknown[]
  readonly bytecode: string
  readonly deployedBytecode: string
}

type Fingerprint = {
  readonly compiler: string
  readonly sha256: string
  readonly sources: readonly string[]
}

type SolcContract = {
  readonly abi: readonly unknown[]
  readonly evm: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

type SolcOutput = {
  readonly errors?: readonly { readonly formattedMessage: string }[]
  readonly sources?: Readonly<Record<string, unknown>>
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>
}

const require = createRequire(import.meta.url)

const packageVersion = (name: string): string => {
  const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

const sourcePath = (name: string): string =>
  name.startsWith('@') ? join(root, 'node_modules', name) : join(root, name)

const ownSources = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.sol'))
    .sort()
    .map((name) => `${folder}/${name}`)

const fingerprintOf = (sources: readonly string[]): Fingerprint => {
  const compiler = packageVersion('solc')
  const hash = createHash('sha256').update(JSON.stringify({ compiler, settings }))
  for (const name of sources) {
    hash.update(`\n${name}\n`).update(readFileSync(sourcePath(name)))
  }
  return { compiler, sha256: hash.digest('hex'), sources }
}

/**
 * Compiles one folder. Any warning is an error.
 * @returns artifacts by path, and the fingerprint of everything that was read
 */
export const compileFolder = (
  folder: string,
): {
  readonly artifacts: ReadonlyMap<string, Artifact>
  readonly fingerprint: Fingerprint
} => {
  const solc = require('solc') as {
    compile(input: string, callbacks: { import(name: string): { contents: string } }): string
  }
  const own = ownSources(folder)
  const sources = Object.fromEntries(
    own.map((name) => [name, { content: readFileSync(sourcePath(name), 'utf8') }]),
  )
  // The compiler makes code of these alone, not of what they import.
  const outputSelection = Object.fromEntries(own.map((name) => [name, { '*': outputs }]))
  const input = JSON.stringify({
    language: 'Solidity',
    sources,
    settings: { ...settings, outputSelection },
  })
  const output = JSON.parse(
    solc.compile(input, {
      import: (name) => ({ contents: readFileSync(sourcePath(name), 'utf8') }),
    }),
  ) as SolcOutput
  const complaints = output.errors ?? []
  if (complaints.length > 0) {
    throw new Error(complaints.map((each) => each.formattedMessage).join('\n'))
  }
  const artifacts = new Map<string, Artifact>()
  for (const name of own) {
    for (const [contractName, contract] of Object.entries(output.contracts?.[name] ?? {})) {
      const deployed = contract.evm.deployedBytecode.object
      // Interfaces and abstract contracts have no code.
      if (deployed === '') continue
      if (deployed.length / 2 > contractBytesMax) {
        throw new Error(`${contractName} has ${deployed.length / 2} bytes: EIP-170 allows 24576`)
      }
      artifacts.set(`${dirname(name)}/generated/${contractName}.json`, {
        contractName,
        abi: contract.abi,
        bytecode: `0x${contract.evm.bytecode.object}`,
        deployedBytecode: `0x${deployed}`,
      })
    }
  }
  return { artifacts, fingerprint: fingerprintOf(Object.keys(output.sources ?? {}).sort()) }
}

const listText = (values: readonly unknown[]): string =>
  `[\n${values.map((value) => `  ${JSON.stringify(value)}`).join(',\n')}\n ]`

/** One line for each member and each entry of a list: a changed function of a contract is one changed line. */
export const artifactText = (value: object): string => {
  const members = Object.entries(value).map(
    ([name, member]) =>
      ` ${JSON.stringify(name)}: ${Array.isArray(member) ? listText(member) : JSON.stringify(member)}`,
  )
  return `{\n${members.join(',\n')}\n}\n`
}

/** @returns why the stored artifacts of a folder are stale, or undefined when they are fresh */
export const staleReason = (folder: string): string | undefined => {
  const path = join(root, folder, 'generated', 'fingerprint.json')
  if (!existsSync(path)) return `${folder}/generated is missing`
  const stored = JSON.parse(readFileSync(path, 'utf8')) as Fingerprint
  const missing = ownSources(folder).filter((name) => !stored.sources.includes(name))
  if (missing.length > 0) return `${missing.join(', ')}: not compiled yet`
  const gone = stored.sources.filter((name) => !existsSync(sourcePath(name)))
  if (gone.length > 0) return `${gone.join(', ')}: compiled, but gone`
  if (fingerprintOf(stored.sources).sha256 !== stored.sha256) {
    return `${folder}: a source, the compiler or its settings changed`
  }
  const lost = artifactsOf(folder).filter((name) => !existsSync(join(root, name)))
  return lost.length > 0 ? `${lost.join(', ')}: missing` : undefined
}

/** One artifact for each contract of its sources; interfaces and abstract contracts have none. */
const artifactsOf = (folder: string): string[] =>
  ownSources(folder).flatMap((name) =>
    [...readFileSync(sourcePath(name), 'utf8').matchAll(/^contract (\w+)/gm)].map(
      ([, contract]) => `${folder}/generated/${contract}.json`,
    ),
  )

const writeFolder = (folder: string): void => {
  const compiled = ownSources(folder).length === 0 ? undefined : compileFolder(folder)
  // The folder also holds artifacts of contracts that are gone.
  rmSync(join(root, folder, 'generated'), { recursive: true, force: true })
  if (compiled === undefined) {
    console.log(`${folder}/generated: removed, its sources are gone`)
    return
  }
  const { artifacts, fingerprint } = compiled
  const write = (path: string, value: object): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), artifactText(value))
  }
  for (const [path, artifact] of artifacts) {
    write(path, artifact)
    console.log(`${path}: ${(artifact.deployedBytecode.length - 2) / 2} bytes deployed`)
  }
  write(`${folder}/generated/fingerprint.json`, fingerprint)
}

const main = (): void => {
  const [given] = process.argv.slice(2)
  if (given !== '--check') {
    const stale = contractFolders.filter((folder) => staleReason(folder) !== undefined)
    for (const folder of given === undefined ? stale : [given]) writeFolder(folder)
    return
  }
  const reasons = contractFolders.map(staleReason).filter((reason) => reason !== undefined)
  for (const reason of reasons) console.error(`${reason}; run: bun scripts/contracts.ts`)
  if (reasons.length > 0) process.exit(1)
}

if (import.meta.main) main()
