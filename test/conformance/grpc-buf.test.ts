import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { supportedTransformations } from '../../src/spi/api/transform/formats.ts'
import { type Rig, service, startRig } from '../spi/api/grpc/support.ts'
import { pacs008 } from '../support/messages.ts'
import { issueCertificate } from '../support/pki.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* buf's own client, written in Go, by the published definitions. */

type Run = { readonly answers: readonly Record<string, unknown>[]; readonly err: string }

/** One call with these messages. */
const curl = async (
  url: string,
  flags: readonly string[],
  messages: readonly object[],
): Promise<Run> => {
  const child = Bun.spawn(
    [
      join(root, 'node_modules/.bin/buf'),
      'curl',
      '--protocol',
      'grpc',
      '--schema',
      'proto',
      ...flags,
      '--data',
      '@-',
      url,
    ],
    {
      cwd: root,
      stdin: Buffer.from(messages.map((message) => JSON.stringify(message)).join('\n')),
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const answers = out
    .split(/\n(?=\{)/)
    .filter((text) => text.trim() !== '')
    .map((text) => JSON.parse(text))
  return { answers, err }
}

const message = Buffer.from(pacs008()).toString('base64')
const good = { source_format: 'pacs.008', message }
const bad = { message: btoa('<a>') }

const callEverything = async (
  rig: Rig,
  scheme: 'http' | 'https',
  flags: readonly string[],
): Promise<void> => {
  const url = `${scheme}://localhost:${rig.port}`
  const withKey = [...flags, '-H', `authorization: Bearer ${rig.key}`]
  const call = (method: string, messages: readonly object[], with_ = withKey) =>
    curl(`${url}${service}/${method}`, with_, messages)

  const { answers, err } = await call('Transform', [good])
  expect(err).toBe('')
  const [answer] = answers
  expect(answer?.['transformationId']).toStartWith('trf_')
  expect(JSON.parse(atob(String(answer?.['result'])))).toHaveProperty('end_to_end_id')

  const stream = await call('TransformStream', [good, bad, good])
  expect(stream.err).toBe('')
  expect(stream.answers.map(({ status = 'SUCCESS' }) => status)).toEqual([
    'SUCCESS',
    'PARSE_ERROR',
    'SUCCESS',
  ])

  const [list] = (await call('ListTransformations', [{}])).answers
  expect(list?.['transformations']).toHaveLength(supportedTransformations.length)

  const health = await curl(`${url}/grpc.health.v1.Health/Check`, flags, [{}])
  expect(health.answers).toEqual([{ status: 'SERVING' }])

  expect((await call('Transform', [good], [...flags])).err).toContain('unauthenticated')
  const weak = [...flags, '-H', `authorization: Bearer ${rig.weakKey}`]
  expect((await call('Transform', [good], weak)).err).toContain('permission_denied')
}

const directory = temporaryDirectory()
const file = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}
const authority = issueCertificate('authority', { authority: true })
const server = issueCertificate('localhost', { issuer: authority, hosts: ['localhost'] })
const client = issueCertificate('client', { issuer: authority })
const ca = file('ca.pem', authority.cert)
const tls = {
  GRPC_TLS_CERT_BASE64: btoa(server.cert),
  GRPC_TLS_KEY_BASE64: btoa(server.key),
}

describe('buf curl', () => {
  test('calls everything in plaintext', async () => {
    const rig = await startRig()
    await callEverything(rig, 'http', ['--http2-prior-knowledge'])
    await rig.stop()
  }, 60_000)

  test('calls everything over TLS', async () => {
    const rig = await startRig({ env: tls })
    await callEverything(rig, 'https', ['--cacert', ca])
    await rig.stop()
  }, 60_000)

  test('calls everything over mutual TLS, and nothing without its certificate', async () => {
    const rig = await startRig({
      env: { ...tls, GRPC_TLS_CLIENT_CA_BASE64: btoa(authority.cert) },
    })
    const pair = ['--cert', file('cert.pem', client.cert), '--key', file('key.pem', client.key)]
    await callEverything(rig, 'https', ['--cacert', ca, ...pair])
    const url = `https://localhost:${rig.port}${service}/ListTransformations`
    const { answers, err } = await curl(url, ['--cacert', ca], [{}])
    expect(answers).toEqual([])
    expect(err).not.toBe('')
    await rig.stop()
  }, 60_000)
})
