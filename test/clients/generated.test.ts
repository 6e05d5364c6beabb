import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortJava } from '../support/java.ts'
import { noNpmTools, npmTools } from '../support/npm-tools.ts'
import { generatorCommand, generatorLibs, noGenerator } from '../support/openapi-generator.ts'
import { root } from '../support/program.ts'
import { noPythonTools, pythonTools } from '../support/python-tools.ts'
import { type RunningDev, startDev } from '../support/running-dev.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { startReceiver } from '../webhooks/support.ts'
import { tryAll } from './try-out.ts'

/*
 * Generators of others make clients of the published document; the clients compile, and a script makes one payment per
 * rail with each.
 */

setDefaultTimeout(240_000)

const peers = join(import.meta.dirname, 'peers')
const directory = temporaryDirectory()
const documentPath = join(directory, 'openapi.json')
const paid = { pix: 'queued', card: 'authorized', transfer: 'pending' }

let dev: RunningDev

beforeAll(async () => {
  dev = await startDev({
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
    // A reversal that is asked for once and not confirmed is what somebody has to tell the end of.
    CARDGW_REVERSAL_ATTEMPTS_MAX: '1',
    CARDGW_NETA_TIMEOUT: '3',
    // A transaction that asks another connection for something would wait for itself.
    TRILHO_DATABASE_CONNECTIONS: '1',
  })
  writeFileSync(documentPath, await (await fetch(`${dev.url}/openapi.json`)).text())
})

afterAll(async () => {
  await dev[Symbol.asyncDispose]()
})

/** Runs a command to its end; one that fails is an error with all it said. */
const run = async (
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0)
    throw new Error(`${command.join(' ').slice(0, 200)}: ${(errors + out).slice(0, 4_000)}`)
  return out
}

const account = () => ({
  URL: dev.url,
  KEY: dev.key,
  ISPB: dev.ispb,
  FROM: dev.wallets[0] ?? '',
  TO: dev.wallets[1] ?? '',
})

const pays = async (
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<unknown> => JSON.parse(await run(command, cwd, { ...account(), ...env }))

test('the examples of all operations work as the page fills them in', async () => {
  const receiver = startReceiver()
  expect(await tryAll(dev, receiver.url)).toEqual([])
  await receiver.stop()
})

describe.skipIf(generatorLibs === undefined)(`openapi-generator${noGenerator}`, () => {
  const properties: Readonly<Record<string, object>> = {
    java: { library: 'native', hideGenerationTimestamp: true },
    go: { packageName: 'trilho' },
    python: { packageName: 'trilho' },
  }

  beforeAll(async () => {
    const files = Object.entries(properties).map(([name, additionalProperties]) => {
      const file = join(directory, `${name}.json`)
      const unwanted = ['apiDocs', 'modelDocs', 'apiTests', 'modelTests']
      writeFileSync(
        file,
        JSON.stringify({
          generatorName: name,
          inputSpec: documentPath,
          outputDir: join(directory, name),
          gitUserId: 'trilho',
          gitRepoId: 'client',
          additionalProperties,
          globalProperties: Object.fromEntries(unwanted.map((one) => [one, 'false'])),
        }),
      )
      return file
    })
    const batch = ['batch', '--fail-fast', '--threads', '2', ...files]
    await run([...generatorCommand(generatorLibs!), ...batch], directory)
  })

  test('for Java: it compiles and pays', async () => {
    const sources = join(directory, 'java/src/main/java')
    const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.java'))
      .map((name) => join(sources, name))
    const list = join(directory, 'sources.txt')
    writeFileSync(list, [...files, join(peers, 'Pay.java')].join('\n'))
    const jars = readdirSync(generatorLibs!)
      .filter((name) => !name.startsWith('openapi-generator'))
      .map((name) => join(generatorLibs!, name))
    const classes = join(directory, 'classes')
    const path = [...jars, classes].join(':')
    const machine = shortJava.map((option) => `-J${option}`)
    const options = [...machine, '-g:none', '-proc:none', '-nowarn', '-encoding', 'UTF-8']
    await run(['javac', ...options, '-cp', path, '-d', classes, `@${list}`], directory)
    const java = ['java', ...shortJava, '-cp', path, 'Pay']
    expect(await pays(java, directory)).toEqual(paid)
  })

  test.skipIf(Bun.which('go') === null)(
    `for Go: it compiles and pays${Bun.which('go') === null ? ' [skipped: no go on this machine]' : ''}`,
    async () => {
      const module = join(directory, 'go')
      mkdirSync(join(module, 'pay'))
      cpSync(join(peers, 'pay.go'), join(module, 'pay/main.go'))
      // A choice between bodies takes one module of others; a checkout around it is none of its business.
      // The compiler has memory enough to collect no garbage.
      const env = {
        GOFLAGS: '-buildvcs=false -mod=mod',
        GOSUMDB: 'off',
        GOTOOLCHAIN: 'local',
        GOGC: 'off',
      }
      // It pays once: nothing is made fast for it, nor easy for a debugger.
      const quick = ['-gcflags=-N -l -dwarf=false', '-ldflags=-s -w']
      await run(['go', 'build', ...quick, '-o', 'pay/', './...'], module, env)
      expect(await pays([join(module, 'pay/pay')], module)).toEqual(paid)
    },
  )

  test.skipIf(pythonTools === undefined)(`for Python: it pays${noPythonTools}`, async () => {
    const env = { PYTHONPATH: join(directory, 'python') }
    const command = [join(pythonTools!, 'python'), join(peers, 'pay_generated.py')]
    expect(await pays(command, directory, env)).toEqual(paid)
  })
})

describe.skipIf(pythonTools === undefined)(`openapi-python-client${noPythonTools}`, () => {
  test('pays', async () => {
    const target = join(directory, 'attrs/client')
    mkdirSync(join(directory, 'attrs'))
    const options = ['--path', documentPath, '--meta', 'none', '--output-path', target]
    const config = join(directory, 'openapi-python-client.yaml')
    // Its hooks format the code with tools that need not be there.
    writeFileSync(config, 'post_hooks: []\n')
    const tool = join(pythonTools!, 'openapi-python-client')
    await run([tool, 'generate', '--config', config, ...options], directory)
    const env = { PYTHONPATH: join(directory, 'attrs') }
    const command = [join(pythonTools!, 'python'), join(peers, 'pay_attrs.py')]
    expect(await pays(command, directory, env)).toEqual(paid)
  })
})

describe.skipIf(npmTools === undefined)(
  `clients/typescript, by openapi-typescript${noNpmTools}`,
  () => {
    const source = join(root, 'clients/typescript')
    const manifestOf = (folder: string) =>
      JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        readonly version: string
        readonly devDependencies: Readonly<Record<string, string>>
      }

    test('has the version of the gateway, and the tools that are tested', () => {
      expect(manifestOf(source).version).toBe(manifestOf(root).version)
      for (const [name, version] of Object.entries(manifestOf(source).devDependencies)) {
        expect(manifestOf(join(npmTools!, name)).version).toBe(version)
      }
    })

    test('is packed by its own commands, knows right payments from wrong ones, and pays in Node', async () => {
      const built = join(directory, 'client')
      cpSync(source, built, { recursive: true })
      symlinkSync(npmTools!, join(built, 'node_modules'))
      await run(['npm', 'run', 'build', '--silent'], built, { OPENAPI: documentPath })
      const packed = JSON.parse(await run(['npm', 'pack', '--json', '--offline'], built))[0] as {
        readonly filename: string
        readonly files: readonly { readonly path: string }[]
      }
      expect(packed.files.map(({ path }) => path).sort()).toEqual([
        ...['LICENSE', 'README.md', 'dist/index.d.ts', 'dist/index.js', 'dist/schema.d.ts'],
        ...['dist/schema.js', 'package.json'],
      ])
      // As npm unpacks it; it has no dependencies to fetch.
      const installed = join(directory, 'node_modules/@trilho/client')
      mkdirSync(installed, { recursive: true })
      const archive = join(built, packed.filename)
      await run(['tar', 'xzf', archive, '--strip-components=1'], installed)
      const user = join(directory, 'user')
      mkdirSync(user)
      cpSync(join(peers, 'pay_client.ts.txt'), join(user, 'pay.mts'))
      const compilerOptions = {
        strict: true,
        skipLibCheck: true,
        types: [],
        lib: ['esnext', 'dom'],
        target: 'esnext',
        module: 'nodenext',
        outDir: 'out',
        rootDir: '.',
      }
      writeFileSync(
        join(user, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['pay.mts'] }),
      )
      await run([join(npmTools!, '.bin/tsc'), '--project', user], user)
      expect(await pays(['node', join(user, 'out/pay.mjs')], user)).toEqual(paid)
    })
  },
)

describe.skipIf(npmTools === undefined)(`Redocly${noNpmTools}`, () => {
  type Document = { info: { license?: object } }
  type Core = {
    readonly createConfig: (config: object) => Promise<object>
    readonly lintFromString: (
      options: object,
    ) => Promise<readonly { readonly ruleId: string; readonly message: string }[]>
  }
  const findings = async (document: Document): Promise<readonly string[]> => {
    const core = (await import(join(npmTools!, '@redocly/openapi-core/lib/index.js'))) as Core
    const config = await core.createConfig({ extends: ['recommended'] })
    const source = JSON.stringify(document)
    const problems = await core.lintFromString({ source, absoluteRef: 'openapi.json', config })
    return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)
  }

  test('finds nothing in the document, but what is taken out of it', async () => {
    const document = JSON.parse(readFileSync(documentPath, 'utf8')) as Document
    expect(await findings(document)).toEqual([])
    const { license: _, ...rest } = document.info
    expect((await findings({ ...document, info: rest })).join()).toStartWith('info-license')
  })
})
