/** Whether a call goes through a proxy: said of every form of the variables as the runtime does it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'

let proxy: ReturnType<typeof Bun.serve>

beforeAll(() => {
  proxy = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('by the proxy') })
})
afterAll(() => proxy.stop(true))

const urls = [
  'http://vault.invalid/',
  'http://vault.invalid./',
  'http://vault.invalid:8200/',
  'http://invalid/',
  'http://127.0.0.1:9/',
  'http://[::1]:9/',
  'http://[::ffff:127.0.0.1]:9/',
]

/** What the runtime does, and what is said of it. */
const program = `
  const { isProxied } = await import('./src/platform/lifecycle/proxied.ts')
  const of = async (url) => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
    return [url, (await answer?.text()) === 'by the proxy', isProxied(url)]
  }
  console.log(JSON.stringify(await Promise.all(${JSON.stringify(urls)}.map(of))))`

const told = async (env: Readonly<Record<string, string>>) => {
  const run = Bun.spawn([process.execPath, '-e', program], {
    cwd: `${import.meta.dir}/../../..`,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  const all = JSON.parse(await new Response(run.stdout).text()) as [string, boolean, boolean][]
  const those = (of: 1 | 2) => all.filter((each) => each[of]).map(([url]) => url)
  return { done: those(1), said: those(2) }
}

const lists = [
  ...[
    '',
    '*',
    'other, *',
    'vault.invalid',
    'VAULT.invalid.',
    'other vault.invalid',
    'other,vault.invalid',
  ],
  ...[
    'invalid',
    '.invalid',
    '*.invalid',
    'ault.invalid',
    '..invalid',
    '.',
    ',',
    'vault.*',
    'http://vault.invalid',
  ],
  ...[
    'vault.invalid:8200',
    'vault.invalid:80',
    '.invalid:8200',
    'vault.invalid:',
    'vault.invalid:x',
    '*:80',
  ],
  ...[
    '127.0.0.1',
    '127.0.0.1:9',
    '127.0.0.1:8',
    '127.0.0.0/8',
    '128.0.0.0/8',
    '127.0.0.0/33',
    '127.0.0.0/',
    '0.0.1',
  ],
  ...['::1', '[::1]', '[::1]:9', '[::1]:8', '::/64', '[::]/64', '::1]', '::/0'],
  ...[
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '[::ffff:127.0.0.1]:9',
    '::ffff:127.0.0.1:9',
    '::ffff:127.0.0.0/104',
    '::ffff:0:0/96',
    '::ffff:127.0.0.0/8',
    '::ffff:127.0.0.0/64',
  ],
]

test('whatever no_proxy lists', async () => {
  const http_proxy = proxy.url.href
  for (const no_proxy of lists) {
    const { done, said } = await told({ http_proxy, no_proxy })
    expect([no_proxy, said]).toEqual([no_proxy, done])
  }
}, 120_000)

test('whichever variable names the proxy, and the exceptions', async () => {
  const at = proxy.url.href
  const cases = [
    {},
    { https_proxy: at },
    { HTTP_PROXY: at },
    { http_proxy: '', HTTP_PROXY: at },
    { all_proxy: at },
    { http_proxy: '', ALL_PROXY: at },
    { http_proxy: at, NO_PROXY: 'vault.invalid' },
    { http_proxy: at, no_proxy: '', NO_PROXY: 'vault.invalid' },
    { http_proxy: at, no_proxy: 'invalid', NO_PROXY: '127.0.0.1' },
  ]
  for (const env of cases) {
    const { done, said } = await told(env)
    expect([env, said]).toEqual([env, done])
  }
}, 120_000)
