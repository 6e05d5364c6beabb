import { join } from 'node:path'
import { temporaryDirectory } from '../support/temporary.ts'

const browser = join(import.meta.dir, '../../src/console/browser')

/** The globals that modules of a page read while they load, and only then. */
const pageIn = (language: 'en' | 'pt') => ({
  localStorage: { getItem: () => language },
  location: { pathname: '/', search: '' },
  navigator: { language: 'en' },
  document: { addEventListener: () => undefined },
})

/** The header by which a page knows an answer of the gateway. */
export const ofGateway = { 'X-Trilho-Console': 'answer' }

export const answerOf = (
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response => Response.json(body, { status, headers: { ...ofGateway, ...headers } })

/** The exports of modules of the console, bundled as for the browser and loaded here. */
export const loadConsole = async <Exports>(
  names: readonly string[],
  language: 'en' | 'pt' = 'en',
): Promise<Exports> => {
  const directory = temporaryDirectory()
  const entry = join(directory, 'entry.ts')
  const lines = names.map((name) => `export * from ${JSON.stringify(join(browser, name))}`)
  await Bun.write(entry, lines.join('\n'))
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    outdir: directory,
    naming: 'built.js',
  })
  const own = Object.entries(pageIn(language)).map(([name, value]) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, name)
    Object.defineProperty(globalThis, name, { value, configurable: true })
    return { name, before }
  })
  try {
    return (await import(outputs[0]?.path ?? '')) as Exports
  } finally {
    for (const { name, before } of own) {
      Reflect.deleteProperty(globalThis, name)
      if (before !== undefined) Object.defineProperty(globalThis, name, before)
    }
  }
}
