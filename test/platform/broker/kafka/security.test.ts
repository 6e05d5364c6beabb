import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { brokerProblems, brokerSettings, createKafkaBroker } from '#src/platform/broker/index.ts'
import { closeClient, openClient } from '#src/platform/broker/kafka/client.ts'
import { clusterOf } from '#src/platform/broker/open.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { quietLogger } from '../../../support/database.ts'
import { isKafkaHere, startTestKafka, type TestKafka } from '../../../support/kafka.ts'
import { type IssuedPair, issueCertificate } from '../../../support/pki.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/until.ts'
import { freshTopic } from './support.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

const base64 = (pem: string): string => Buffer.from(pem).toString('base64')

const settingsOf = (env: Readonly<Record<string, string>>) => {
  const { values, problems } = loadSettings({ broker: brokerSettings }, env)
  expect(problems).toEqual([])
  return values.broker
}

describe.skipIf(!isKafkaHere)('a Kafka that asks for TLS and a sign-in', () => {
  const authority = issueCertificate('Test Authority', { authority: true })
  const listener = issueCertificate('kafka.test', { issuer: authority, hosts: ['127.0.0.1'] })
  const client = issueCertificate('client', { issuer: authority })
  const stranger = issueCertificate('Another Authority', { authority: true })
  const user = 'gateway'
  const password = 'let-me-in'
  let kafka: TestKafka
  beforeAll(async () => {
    kafka = await startTestKafka({
      security: { ...listener, ca: authority.cert, user, password },
    })
  }, 120_000)
  afterAll(() => kafka.close())

  const env = {
    TRILHO_BROKER_TLS: 'true',
    TRILHO_BROKER_CA_BASE64: base64(authority.cert),
    TRILHO_BROKER_SASL_MECHANISM: 'SCRAM-SHA-512',
    TRILHO_BROKER_SASL_USERNAME: user,
    TRILHO_BROKER_SASL_PASSWORD: password,
  }
  const open = async (
    changed: Readonly<Record<string, string>>,
    { address = kafka.address, publishTimeoutMs = 30_000 } = {},
  ) => {
    const settings = settingsOf({ ...env, ...changed })
    const broker = createKafkaBroker({
      cluster: clusterOf([address], settings, createFileMaterial(settings)),
      topics: { partitions: 2, replicas: undefined, retentionDays: 1 },
      publishTimeoutMs,
      logger: quietLogger,
    })
    await broker.start()
    return broker
  }

  test.each([
    ['SCRAM', {}],
    ['PLAIN', { TRILHO_BROKER_SASL_MECHANISM: 'PLAIN' }],
    [
      'a client certificate',
      {
        TRILHO_BROKER_CERT_BASE64: base64(client.cert),
        TRILHO_BROKER_KEY_BASE64: base64(client.key),
      },
    ],
  ])('takes and gives messages with %s', async (_, changed) => {
    const broker = await open(changed)
    const topic = freshTopic('secured')
    const seen: string[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
      },
    })
    await broker.publish([{ topic, value: Buffer.from('secret') }])
    await until(() => seen.length === 1)
    expect(seen).toEqual(['secret'])
    await broker.stop()
  })

  test.each([
    ['a wrong password', { TRILHO_BROKER_SASL_PASSWORD: 'guess' }],
    [
      'a certificate of an authority that is not ours',
      { TRILHO_BROKER_CA_BASE64: base64(stranger.cert) },
    ],
  ])('is not used with %s', async (_, changed) => {
    const broker = await open(changed, { publishTimeoutMs: 3_000 })
    const publication = broker.publish([{ topic: freshTopic('no'), value: Buffer.from('x') }])
    const error: unknown = await publication.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'BrokerUnavailableError' })
    expect(Bun.inspect(error)).not.toContain(password)
    await broker.stop()
  })

  test('is not used under a name that its certificate does not have', async () => {
    const address = kafka.address.replace('127.0.0.1', 'localhost')
    const broker = await open({}, { address, publishTimeoutMs: 3_000 })
    const publication = broker.publish([{ topic: freshTopic('no'), value: Buffer.from('x') }])
    await expect(publication).rejects.toThrow('Kafka has not taken the messages')
    await broker.stop()
  })
})

describe('settings of Kafka', () => {
  const problemsOf = (env: Readonly<Record<string, string>>) =>
    brokerProblems(settingsOf(env)).map(({ name }) => name)

  test('that need one another are told of', () => {
    const pem = base64(issueCertificate('x').cert)
    expect(problemsOf({})).toEqual([])
    expect(problemsOf({ TRILHO_BROKER_TLS: 'true', TRILHO_BROKER_CERT_BASE64: pem })).toEqual([
      'TRILHO_BROKER_CERT_PATH',
    ])
    expect(problemsOf({ TRILHO_BROKER_CA_BASE64: pem })).toEqual(['TRILHO_BROKER_CA_PATH'])
    expect(problemsOf({ TRILHO_BROKER_SASL_MECHANISM: 'PLAIN' })).toEqual([
      'TRILHO_BROKER_SASL_MECHANISM',
      'TRILHO_BROKER_SASL_MECHANISM',
    ])
    expect(problemsOf({ TRILHO_BROKER_SASL_PASSWORD: 'x' })).toEqual([
      'TRILHO_BROKER_SASL_PASSWORD',
    ])
  })

  test('that do not belong together are told of', () => {
    const [one, other] = [issueCertificate('one'), issueCertificate('other')]
    const env = {
      TRILHO_BROKER_TLS: 'true',
      TRILHO_BROKER_CERT_BASE64: base64(one.cert),
      TRILHO_BROKER_KEY_BASE64: base64(one.key),
    }
    expect(problemsOf(env)).toEqual([])
    expect(problemsOf({ ...env, TRILHO_BROKER_KEY_BASE64: base64(other.key) })).toEqual([
      'TRILHO_BROKER_CERT_PATH',
    ])
  })
})

test('a certificate that changes is shown by the next connection', async () => {
  const authority = issueCertificate('Test Authority', { authority: true })
  const listener = issueCertificate('kafka.test', { issuer: authority, hosts: ['127.0.0.1'] })
  const issue = (name: string) => issueCertificate(name, { issuer: authority })
  const directory = temporaryDirectory()
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') }
  const install = async ({ cert, key }: IssuedPair): Promise<void> => {
    await Bun.write(files.key, key)
    await Bun.write(files.cert, cert)
  }
  const shown: string[] = []
  const { cert, key } = listener
  // No Kafka: who asks is seen from the handshake, and then sent away.
  const server = createServer({ cert, key, ca: authority.cert, requestCert: true }, (socket) => {
    shown.push(String(socket.getPeerCertificate().subject?.CN))
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const first = issue('first')
  await install(first)
  const material = createFileMaterial({
    certificate: { text: first.cert, path: files.cert },
    key: { text: first.key, path: files.key },
    ca: { text: authority.cert, path: undefined },
  })
  const client = openClient(clusterOf([`127.0.0.1:${port}`], settingsOf({}), material), 1_000)
  const ask = () => client.metadata({ topics: [], forceUpdate: true })
  await expect(ask()).rejects.toThrow()
  expect(new Set(shown)).toEqual(new Set(['first']))
  await install(issue('second'))
  await material.reload()
  const before = shown.length
  await expect(ask()).rejects.toThrow()
  expect(new Set(shown.slice(before))).toEqual(new Set(['second']))
  await closeClient(client)
  server.close()
})
