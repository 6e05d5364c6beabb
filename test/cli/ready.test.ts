import { expect, test } from 'bun:test'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, runProgram } from '../support/program.ts'

test('ready tells what the process of this machine answers', async () => {
  let isReady = true
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('/ready')
        ? Response.json({ status: isReady ? 'ready' : 'draining' }, { status: isReady ? 200 : 503 })
        : new Response(null, { status: 404 }),
  })
  const ask = (env: Readonly<Record<string, string>>) => runProgram(anyVariant, ['ready'], { env })
  const everywhere = `:${server.port}`
  expect(await ask({ HTTP_ADDR: everywhere })).toMatchObject({
    code: 0,
    out: '{"status":"ready"}\n',
  })
  // Between a process and itself there is no proxy.
  const behind = { HTTP_ADDR: everywhere, http_proxy: 'http://127.0.0.1:9' }
  expect((await ask(behind)).code).toBe(0)
  // Health is on the admin listener alone where there is one.
  const admin = { HTTP_ADDR: '127.0.0.1:9', TRILHO_ADMIN_ADDR: `127.0.0.1:${server.port}` }
  expect((await ask(admin)).code).toBe(0)
  isReady = false
  expect(await ask({ HTTP_ADDR: everywhere })).toMatchObject({
    code: 1,
    out: '{"status":"draining"}\n',
  })
  const nobody = await ask({ HTTP_ADDR: '127.0.0.1:9' })
  expect(nobody.code).toBe(1)
  expect(nobody.err).toBe(
    'trilho ready: http://127.0.0.1:9/ready: nothing listens there: is `serve` running? See its log.\n',
  )
  expect((await ask({ HTTP_ADDR: 'nonsense' })).code).toBe(78)
})

test('ready asks by TLS where the listener serves it', async () => {
  const { cert, key } = issueCertificate('server', { hosts: ['pay.example'] })
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert, key },
    fetch: () => Response.json({ status: 'ready' }),
  })
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const env = { TRILHO_TLS_CERT_BASE64: base64(cert), TRILHO_TLS_KEY_BASE64: base64(key) }
  const own = await runProgram(anyVariant, ['ready'], {
    env: { ...env, HTTP_ADDR: `:${server.port}` },
  })
  expect(own).toMatchObject({ code: 0, out: '{"status":"ready"}\n' })
  const address = `127.0.0.1:${server.port}`
  const admin = { ...env, HTTP_ADDR: '127.0.0.1:9', TRILHO_ADMIN_ADDR: address }
  expect((await runProgram(anyVariant, ['ready'], { env: admin })).code).toBe(1)
  const adminTls = { ...admin, TRILHO_ADMIN_TLS: 'true' }
  expect((await runProgram(anyVariant, ['ready'], { env: adminTls })).code).toBe(0)
})
