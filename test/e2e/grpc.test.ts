import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import {
  decodeResponse,
  encodeRequest,
  rawClient,
  service,
  withKey,
} from '../spi/api/grpc/support.ts'
import { pacs008 } from '../support/messages.ts'
import { anyVariant, runProgram, startProgram, variants } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(60_000)

const anyPort = { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }

describe.each(variants)('gRPC ($name)', (variant) => {
  test('serve answers with the keys of the file, and ends in order', async () => {
    const file = join(temporaryDirectory(), 'keys.json')
    const { out } = await runProgram(variant, [
      'keys',
      'create',
      '--file',
      file,
      '--name',
      'a',
      '--scopes',
      'spi:transform',
      '--json',
    ])
    const { key } = JSON.parse(out) as { readonly key: string }
    const program = startProgram(variant, ['serve'], { env: { ...anyPort, API_KEYS_FILE: file } })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    const { grpc_url } = JSON.parse(line) as { readonly grpc_url: string }
    expect(grpc_url).toStartWith('http://127.0.0.1:')
    const client = rawClient(new URL(grpc_url).host)
    const request = encodeRequest({ message: Buffer.from(pacs008()) })
    const { bytes } = await client.unary(`${service}/Transform`, request, withKey(key))
    expect(decodeResponse(bytes).status).toBe('SUCCESS')
    client.close()
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })
})

describe('gRPC without TLS', () => {
  test('serves this machine only when the address is a port alone, and says so', async () => {
    const env = { ...anyPort, GRPC_ADDR: ':0' }
    const program = startProgram(anyVariant, ['serve'], { env })
    const warning = JSON.parse(await program.line((text) => text.includes('gRPC has no TLS')))
    expect(warning).toMatchObject({ level: 'warn', host: '127.0.0.1', port: expect.any(Number) })
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('refuses an address others reach, unless that is allowed', async () => {
    const env = { ...anyPort, GRPC_ADDR: '0.0.0.0:0' }
    const { code, err } = await runProgram(anyVariant, ['serve'], { env })
    expect(code).toBe(78)
    expect(err).toContain('GRPC_PLAINTEXT_ALLOWED=true')
    const allowed = { ...env, GRPC_PLAINTEXT_ALLOWED: 'true' }
    const program = startProgram(anyVariant, ['serve'], { env: allowed })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    expect(JSON.parse(line).grpc_url).toStartWith('http://localhost:')
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  })

  test('ends with 1 and a reason when the port is taken', async () => {
    const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
    const env = { ...anyPort, GRPC_ADDR: `127.0.0.1:${taken.port}` }
    const { code, out } = await runProgram(anyVariant, ['serve'], { env })
    expect(code).toBe(1)
    expect(out).toContain(
      `"GRPC_ADDR: cannot listen on 127.0.0.1, port ${taken.port}: it is in use"`,
    )
    taken.stop(true)
  })
})
