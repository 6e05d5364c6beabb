import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * The descriptors that reflection gives out, made of proto/ by buf. Needs no network.
 *
 *   bun scripts/proto.ts              write src/spi/api/grpc/generated/descriptors.json
 *   bun scripts/proto.ts --check      lint; compare with proto/, and proto/ with the published baseline
 *   bun scripts/proto.ts --baseline   publish: what proto/ says now must hold from now on
 */

const root = join(import.meta.dirname, '..')
const target = join(root, 'src/spi/api/grpc/generated/descriptors.json')
const baseline = 'proto/baseline.binpb'

type Message = {
  readonly name: string
  readonly nestedType?: readonly Message[]
  readonly enumType?: readonly { readonly name: string }[]
}

type File = {
  readonly name: string
  readonly package: string
  readonly dependency?: readonly string[]
  readonly messageType?: readonly Message[]
  readonly enumType?: readonly { readonly name: string }[]
  readonly service?: readonly {
    readonly name: string
    readonly method: readonly { readonly name: string }[]
  }[]
}

const buf = (...args: readonly string[]): Buffer => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [join(root, 'node_modules/.bin/buf'), ...args],
    { cwd: root, stdout: 'pipe', stderr: 'pipe' },
  )
  if (exitCode === 0) return stdout
  console.error(`buf ${args.join(' ')}:\n${stdout.toString()}${stderr.toString()}`)
  process.exit(1)
}

const symbolsOfMessage = (scope: string, message: Message): readonly string[] => {
  const name = `${scope}.${message.name}`
  return [
    name,
    ...(message.nestedType ?? []).flatMap((nested) => symbolsOfMessage(name, nested)),
    ...(message.enumType ?? []).map((nested) => `${name}.${nested.name}`),
  ]
}

/** Every full name that a client may ask for. */
const symbolsOf = (file: File): readonly string[] => [
  ...(file.messageType ?? []).flatMap((message) => symbolsOfMessage(file.package, message)),
  ...(file.enumType ?? []).map(({ name }) => `${file.package}.${name}`),
  ...(file.service ?? []).flatMap((service) => {
    const name = `${file.package}.${service.name}`
    return [name, ...service.method.map((method) => `${name}.${method.name}`)]
  }),
]

const build = (): string => {
  const flags = ['build', '--as-file-descriptor-set', '--exclude-source-info']
  const { file: files } = JSON.parse(buf(...flags, '-o', '-#format=json').toString()) as {
    readonly file: readonly File[]
  }
  const descriptors = files.map((file) => {
    if (file.dependency !== undefined) throw new Error(`${file.name} imports another file`)
    // With one path the set holds one file: its bytes follow the tag and the length.
    const set = buf(...flags, '--path', join('proto', file.name), '-o', '-#format=binpb')
    return {
      name: file.name,
      symbols: symbolsOf(file),
      descriptor: onlyFile(set).toString('base64'),
    }
  })
  return `${JSON.stringify(descriptors, null, 2)}\n`
}

const onlyFile = (set: Buffer): Buffer => {
  let at = 1
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = set[at++] ?? 0
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  if (set[0] !== 0x0a || at + length !== set.length) throw new Error('more than one file')
  return set.subarray(at)
}

const check = (): void => {
  buf('lint')
  buf('breaking', '--against', baseline)
  if (!existsSync(target) || readFileSync(target, 'utf8') !== build()) {
    console.error('src/spi/api/grpc/generated/descriptors.json is stale: run bun scripts/proto.ts')
    process.exit(1)
  }
}

switch (process.argv[2]) {
  case '--check':
    check()
    break
  case '--baseline':
    buf('build', '--exclude-source-info', '-o', baseline)
    break
  default:
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, build())
}
