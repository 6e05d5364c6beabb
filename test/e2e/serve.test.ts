import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { largeBytesMin } from '../../src/spi/api/large/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { freePort } from '../support/free-port.ts'
import { pacs008 } from '../support/messages.ts'
import { runProgram, startProgram, type Variant, variants } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(60_000)

const anyPort = { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }

const startServe = async (variant: Variant, env: Record<string, string> = {}) => {
  const program = startProgram(variant, ['serve'], { env: { ...anyPort, ...env } })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  return { program, url: (JSON.parse(line) as { http_url: string }).http_url }
}

describe.each(variants)('trilho serve ($name)', (variant) => {
  test('answers, logs JSON, and ends in order on SIGTERM', async () => {
    const { program, url } = await startServe(variant)
    const health = await fetch(`${url}/health`)
    expect(await health.json()).toEqual({ status: 'ok', version: expect.any(String) })
    expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: 'ready' })
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
    expect(out).toContain('"msg":"stopped"')
  })

  test('serves on for TRILHO_DRAIN_SECONDS, so that who asks for readiness is never refused', async () => {
    const { program, url } = await startServe(variant, { TRILHO_DRAIN_SECONDS: '2' })
    const isReady = async () => (await fetch(`${url}/ready`)).status === 200
    program.signal('SIGTERM')
    // A load balancer may look late: whatever it sends here meanwhile is answered.
    while (await isReady()) await Bun.sleep(10)
    for (let answers = 0; answers < 5; answers++) {
      const response = await fetch(`${url}/v1/errors`)
      expect([response.status, response.headers.get('connection')]).toEqual([200, 'close'])
      await Bun.sleep(50)
    }
    expect((await program.end()).code).toBe(0)
    await expect(fetch(`${url}/ready`)).rejects.toThrow()
  })

  test('SIGINT waits for no load balancer', async () => {
    const { program } = await startServe(variant, { TRILHO_DRAIN_SECONDS: '300' })
    program.signal('SIGINT')
    expect((await program.end()).code).toBe(0)
  })

  test('SIGHUP ends nothing, alone or with workers', async () => {
    for (const args of [['serve'], ['serve', '--workers', '2']]) {
      const env = { HTTP_ADDR: `127.0.0.1:${freePort()}`, CARDGW_PORT: '0' }
      const program = startProgram(variant, args, { env })
      await program.line((text) => text.includes('"msg":"listening"'))
      program.signal('SIGHUP')
      await program.line((text) => text.includes('"msg":"SIGHUP ends nothing'))
      expect((await fetch(`http://${env.HTTP_ADDR}/ready`)).status).toBe(200)
      program.signal('SIGINT')
      expect((await program.end()).code).toBe(0)
    }
  })

  test('serves the interactive page and the document from its own files', async () => {
    const { program, url } = await startServe(variant)
    const page = await (await fetch(`${url}/docs`)).text()
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(files.length).toBeGreaterThanOrEqual(3)
    for (const file of files) {
      expect(file).toMatch(/^\/(docs\/|openapi\.json$|v1\/errors$)/)
      const response = await fetch(url + file)
      expect(response.status).toBe(200)
      expect((await response.text()).length).toBeGreaterThan(50)
    }
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      openapi: string
      paths: object
    }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toContain('/health')
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('takes an Idempotency-Key wherever a POST creates or moves something', async () => {
    const { program, url } = await startServe(variant)
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, { post?: { parameters?: { name: string }[]; responses: object } }>
    }
    const posts = Object.entries(paths).flatMap(([path, { post }]) =>
      post === undefined ? [] : [{ path, post }],
    )
    const [takes, others] = [true, false].map((wanted) =>
      posts.filter(
        ({ post }) =>
          wanted === (post.parameters ?? []).some(({ name }) => name === 'Idempotency-Key'),
      ),
    )
    expect(takes?.length).toBeGreaterThanOrEqual(13)
    for (const { post } of takes ?? []) {
      expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['409', '422']))
    }
    // What only reads its body; then what its own state or name guards: a second one changes nothing.
    const exempt =
      /^\/v1\/(validate|inspect|transform(\/\w+)?|qrcodes\/\w+|jose\/\w+|rsfn\/\w+|spi\/build|dict\/(verifications|comparisons\/\{id\}\/mend|claims\/\{id\}\/(acknowledge|cancel|complete|confirm))|pix\/(qrcode\/resolve|differences|figures)|webhooks\/\{id\}\/test|wallets\/\{id\}\/sign-[\w-]+|drex\/(transfers|batches)\/\{id\}\/(cancel|approve))$/
    expect(others?.map(({ path }) => path).filter((path) => !exempt.test(path))).toEqual([])
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('reads a large message in a thread, whose file the program finds beside itself', async () => {
    const { file, key } = await apiKeyFile('spi:transform')
    const { program, url } = await startServe(variant, { API_KEYS_FILE: file })
    const response = await fetch(`${url}/v1/validate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/xml' },
      body: pacs008().padEnd(largeBytesMin),
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ type: 'pacs.008' })
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('serves /metrics only when it is enabled', async () => {
    const enabled = await startServe(variant)
    await fetch(`${enabled.url}/health`)
    const text = await (await fetch(`${enabled.url}/metrics`)).text()
    expect(text).toContain('http_requests_total{method="GET",path="/health",status="200"} 1')
    expect(text).toContain('trilho_build_info{')
    expect(text).toContain('nodejs_eventloop_lag_seconds')
    enabled.program.signal('SIGINT')
    expect((await enabled.program.end()).code).toBe(0)

    const disabled = await startServe(variant, { METRICS_ENABLED: 'false' })
    expect((await fetch(`${disabled.url}/metrics`)).status).toBe(404)
    disabled.program.signal('SIGTERM')
    await disabled.program.end()
  })

  test('names every configuration problem at once, masked, and ends with 78', async () => {
    const { code, out, err } = await runProgram(variant, ['serve'], {
      env: { HTTP_ADDR: 'nowhere', LOG_LEVEL: 'loud', METRICS_ENABLED: 'perhaps' },
    })
    expect(code).toBe(78)
    expect(out).toBe('')
    expect(err).toContain('HTTP_ADDR')
    expect(err).toContain('LOG_LEVEL')
    expect(err).toContain('METRICS_ENABLED')
    expect(err).toContain('HOW TO FIX')
  })

  test('warns of a misspelt setting and names the nearest', async () => {
    const { program } = await startServe(variant, { TRILHO_STOP_TIMEUOT: '5' })
    const warning = await program.line((text) => text.includes('TRILHO_STOP_TIMEUOT'))
    expect(warning).toContain('did you mean TRILHO_STOP_TIMEOUT?')
    program.signal('SIGTERM')
    await program.end()
  })

  test('ends with 1 and a reason when the port is taken', async () => {
    const { program, url } = await startServe(variant)
    const { code, out } = await runProgram(variant, ['serve'], {
      env: { ...anyPort, HTTP_ADDR: new URL(url).host },
    })
    expect(code).toBe(1)
    const { host, port } = new URL(url)
    expect(out).toContain(`HTTP_ADDR: cannot listen on 127.0.0.1, port ${port}: it is in use`)
    const admin = await runProgram(variant, ['serve'], {
      env: { ...anyPort, TRILHO_ADMIN_ADDR: host },
    })
    const failed = admin.out.split('\n').filter((line) => line.includes('"level":"error"'))
    expect([admin.code, failed.length]).toEqual([1, 1])
    expect(JSON.parse(failed[0] ?? '')).toMatchObject({
      msg: 'start failed',
      err: { message: `TRILHO_ADMIN_ADDR: cannot listen on 127.0.0.1, port ${port}: it is in use` },
    })
    program.signal('SIGTERM')
    await program.end()
  })

  test('serves readiness and metrics by TRILHO_ADMIN_ADDR alone, where that is set', async () => {
    const { program, url } = await startServe(variant, { TRILHO_ADMIN_ADDR: '127.0.0.1:0' })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    const { admin_url: admin } = JSON.parse(line) as { admin_url: string }
    const ready = await fetch(`${admin}/ready`)
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }])
    expect(await (await fetch(`${admin}/metrics`)).text()).toContain('path="/ready",status="200"')
    for (const path of ['/ready', '/metrics']) expect((await fetch(url + path)).status).toBe(404)
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('sees a key created and revoked while it runs', async () => {
    const file = join(temporaryDirectory(), 'keys.json')
    writeFileSync(file, '{"keys":[]}')
    const { program, url } = await startServe(variant, { API_KEYS_FILE: file })
    const created = await runProgram(variant, [
      'keys',
      'create',
      '--file',
      file,
      '--name',
      'ops',
      '--scopes',
      'ops:read',
      '--json',
    ])
    const { id, key } = JSON.parse(created.out) as { id: string; key: string }
    const hasDetails = async () => {
      const headers = { Authorization: `Bearer ${key}` }
      return 'checks' in ((await (await fetch(`${url}/health`, { headers })).json()) as object)
    }
    expect(await hasDetails()).toBe(true)
    const revoked = await runProgram(variant, ['keys', 'revoke', id, '--file', file])
    expect(revoked.code).toBe(0)
    const deadline = Date.now() + 40_000
    while ((await hasDetails()) && Date.now() < deadline) await Bun.sleep(250)
    expect(await hasDetails()).toBe(false)
    program.signal('SIGTERM')
    await program.end()
  })
})
