import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { putTools } from '../support/bare-root.ts'
import { freePort } from '../support/free-port.ts'
import { root, startProgram, variants } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * deploy/container/Dockerfile, built by podman and run by runc: no root, nothing written, health by `trilho ready`.
 * No registry is asked: in place of its base stands one of what Debian's base has as far as the file uses it, copied
 * from this machine. podman needs a service manager for what runc does here from the image's own words.
 */

setDefaultTimeout(120_000)

const tools = ['sh', 'useradd', 'install', 'touch', 'id']
const hasTools = ['podman', 'runc', 'ldd', 'tar', ...tools].every((name) => Bun.which(name))
const noContainers =
  hasTools && process.getuid?.() === 0 ? '' : ' [skipped: needs podman, runc and root]'

type Image = {
  readonly User: string
  readonly Config: Readonly<Record<'Env' | 'Entrypoint' | 'Cmd', readonly string[]>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

const directory = temporaryDirectory()
const store = ['--root', join(directory, 'store'), '--runroot', join(directory, 'run')]

const run = (command: readonly string[], cwd = directory) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd })
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
}
const podman = (...words: readonly string[]): string => {
  const { code, out, err } = run(['podman', ...store, ...words])
  if (code !== 0) throw new Error(`podman ${words[0]}: ${err}`)
  return out.trim()
}

/** What the file says that it is built from, as far as it needs it. */
const makeBase = (name: string): void => {
  const made = join(directory, 'base')
  putTools(made, tools)
  for (const folder of ['etc', 'tmp', 'proc', 'dev', 'sys', 'var/lib', 'usr/local/bin', 'usr/sbin'])
    mkdirSync(join(made, folder), { recursive: true })
  for (const [file, text] of [
    ['passwd', 'root:x:0:0::/root:/bin/sh\n'],
    ['group', 'root:x:0:\n'],
    ['shadow', 'root:*:1::::::\n'],
    ['gshadow', 'root:*::\n'],
    ['login.defs', 'USERGROUPS_ENAB yes\n'],
  ] as const)
    writeFileSync(join(made, 'etc', file), text)
  const archive = join(directory, 'base.tar')
  expect(run(['tar', '-C', made, '-cf', archive, '.'])).toMatchObject({ code: 0 })
  podman('import', '--quiet', archive, name)
}

const id = `trilho-${process.pid}`
let image: Image

/** The container that the image describes, on the network of this machine, with nothing that it may write to. */
const bundle = (env: readonly string[]): string => {
  const made = join(directory, 'bundle')
  mkdirSync(made)
  const path = join(made, 'config.json')
  expect(run(['runc', 'spec'], made)).toMatchObject({ code: 0 })
  const spec = JSON.parse(readFileSync(path, 'utf8'))
  const [uid, gid] = image.User.split(':').map(Number)
  const { Entrypoint: entry, Cmd: words, Env: own } = image.Config
  Object.assign(spec.process, { terminal: false, user: { uid, gid }, env: [...own, ...env] })
  Object.assign(spec.process, { args: [...entry, ...words], capabilities: {} })
  spec.root = { path: podman('image', 'mount', 'trilho'), readonly: true }
  spec.linux.namespaces = spec.linux.namespaces.filter(
    (one: { readonly type: string }) => one.type !== 'network',
  )
  writeFileSync(path, JSON.stringify(spec))
  return made
}

const inContainer = (...words: readonly string[]) => run(['runc', 'exec', id, ...words])

if (noContainers === '') {
  beforeAll(() => {
    const file = join(root, 'deploy/container/Dockerfile')
    const [, base = ''] = /^FROM (\S+)$/m.exec(readFileSync(file, 'utf8')) ?? []
    makeBase(`docker.io/library/${base}`)
    const context = join(directory, 'unpacked')
    mkdirSync(context)
    const [program = ''] = variants.find(({ name }) => name === 'built file')?.command() ?? []
    copyFileSync(program, join(context, 'trilho'))
    const options = ['--format', 'docker', '--isolation', 'chroot', '--layers=false']
    podman('build', ...options, '--pull=never', '--tag', 'trilho', '--file', file, context)
    ;[image] = JSON.parse(podman('image', 'inspect', 'trilho'))
  })

  afterAll(() => {
    run(['runc', 'delete', '--force', id])
    podman('image', 'unmount', '--all')
    podman('rmi', '--all', '--force')
  })
}

test.skipIf(noContainers !== '')(
  `the image serves as an ordinary user who can write nothing, tells its health, and stops when told${noContainers}`,
  async () => {
    const env = [`HTTP_ADDR=127.0.0.1:${freePort()}`, `GRPC_ADDR=127.0.0.1:${freePort()}`]
    const command = ['runc', 'run', '--bundle', bundle([...env, 'TRILHO_DRAIN_SECONDS=0']), id]
    const program = startProgram({ name: 'built file', command: () => command }, [])
    await program.line((line) => line.includes('"msg":"listening"'))

    const [kind, ...health] = image.Healthcheck.Test
    expect(kind).toBe('CMD')
    expect(inContainer(...health)).toMatchObject({ code: 0 })
    expect(inContainer('id', '-u').out).toBe('10001\n')
    for (const place of ['/tmp/x', '/var/lib/trilho/x', '/x']) {
      expect(inContainer('touch', place).err).toMatch(/Read-only file system|Permission denied/)
    }
    expect(run(['runc', 'kill', id, 'TERM'])).toMatchObject({ code: 0 })
    expect((await program.end()).code).toBe(0)
  },
)
