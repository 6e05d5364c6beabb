import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import files from '../../src/spi/api/grpc/generated/descriptors.json' with { type: 'json' }
import { supportedTransformations } from '../../src/spi/api/transform/formats.ts'
import { type Rig, startRig } from '../spi/api/grpc/support.ts'
import { pacs008 } from '../support/messages.ts'
import { issueCertificate } from '../support/pki.ts'
import { pythonWith } from '../support/python-tools.ts'

const python = pythonWith('grpc, google.protobuf')
const missing = python === undefined
const note = missing ? ' [skipped: no python3 with grpcio, and no way to PyPI]' : ''
const pairs = 200

const peer = async (rig: Rig, more: object = {}): Promise<Record<string, unknown>> => {
  const { target, key, weakKey: weak_key } = rig
  const descriptors = files.map(({ descriptor }) => descriptor)
  const input = { target, key, weak_key, descriptors, message: pacs008(), pairs, ...more }
  const child = Bun.spawn([python ?? 'python3', join(import.meta.dir, 'python/grpc_peer.py')], {
    stdin: Buffer.from(JSON.stringify(input)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(err)
  return JSON.parse(out)
}

const expected = {
  status: 0,
  zipped: 0,
  stream: Array.from({ length: pairs }, () => [0, 2]).flat(),
  listed: supportedTransformations.length,
  health: 1,
  no_key: 'UNAUTHENTICATED',
  weak_key: 'PERMISSION_DENIED',
  unary_bad: 2,
  too_large: 'RESOURCE_EXHAUSTED',
}

describe.skipIf(missing)(`grpcio${note}`, () => {
  test('calls everything in plaintext', async () => {
    const rig = await startRig()
    const answer = await peer(rig)
    expect(answer).toMatchObject(expected)
    expect(answer['id']).toStartWith('trf_')
    expect(answer['request_id']).toBeString()
    expect(JSON.parse(String(answer['result']))).toHaveProperty('end_to_end_id')
    await rig.stop()
  }, 60_000)

  test('calls everything over mutual TLS', async () => {
    const ca = issueCertificate('authority', { authority: true })
    const server = issueCertificate('localhost', { issuer: ca, hosts: ['localhost'] })
    const client = issueCertificate('client', { issuer: ca })
    const rig = await startRig({
      env: {
        GRPC_TLS_CERT_BASE64: btoa(server.cert),
        GRPC_TLS_KEY_BASE64: btoa(server.key),
        GRPC_TLS_CLIENT_CA_BASE64: btoa(ca.cert),
      },
    })
    const answer = await peer(rig, { ca: ca.cert, key_pem: client.key, cert_pem: client.cert })
    expect(answer).toMatchObject(expected)
    await rig.stop()
  }, 60_000)
})
