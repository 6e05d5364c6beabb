import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Metadata, status } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { pacs008 } from '../../../support/messages.ts'
import { root } from '../../../support/program.ts'
import { failure, rawClient, service, startRig } from './support.ts'

const types = protobuf.loadSync(join(root, 'proto/grpc/reflection/v1/reflection.proto'))
const requestType = types.lookupType('grpc.reflection.v1.ServerReflectionRequest')
const responseType = types.lookupType('grpc.reflection.v1.ServerReflectionResponse')
const pathOf = (version: string) =>
  `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
const serviceOf = (version: string) => `grpc.reflection.${version}.ServerReflection`
const versions = ['v1', 'v1alpha'] as const

const rig = await startRig({ env: { GRPC_REFLECTION_ENABLED: 'true' } })
const client = rawClient(rig.target)

afterAll(async () => {
  client.close()
  await rig.stop()
})

const ask = async (
  version: string,
  ...requests: readonly object[]
): Promise<readonly Record<string, unknown>[]> => askIn('en', version, ...requests)

const askIn = async (
  language: string,
  version: string,
  ...requests: readonly object[]
): Promise<readonly Record<string, unknown>[]> => {
  const metadata = new Metadata()
  metadata.set('accept-language', language)
  const call = client.stream(pathOf(version), metadata)
  for (const request of requests) call.write(Buffer.from(requestType.encode(request).finish()))
  call.end()
  const answers: Record<string, unknown>[] = []
  for await (const bytes of call) {
    answers.push(responseType.toObject(responseType.decode(bytes as Buffer)))
  }
  return answers
}

describe.each(versions)('reflection %s', (version) => {
  test('lists the services, gives their files, and says what it does not know', async () => {
    const [services, symbol, file, extension, unknown, nothing] = await ask(
      version,
      { host: 'here', listServices: '' },
      { fileContainingSymbol: 'spigw.v1.TransformRequest' },
      { fileByFilename: 'grpc/health/v1/health.proto' },
      { allExtensionNumbersOfType: 'spigw.v1.TransformRequest' },
      { fileContainingSymbol: 'spigw.v2.Nothing' },
      { host: 'here' },
    )
    expect(services).toMatchObject({
      validHost: 'here',
      originalRequest: { host: 'here', listServices: '' },
      listServicesResponse: {
        service: [
          { name: 'spigw.v1.TransformationService' },
          { name: 'grpc.health.v1.Health' },
          { name: 'grpc.reflection.v1.ServerReflection' },
          { name: 'grpc.reflection.v1alpha.ServerReflection' },
        ],
      },
    })
    const text = (answer: Record<string, unknown> | undefined): string => {
      const { fileDescriptorProto } = (answer?.['fileDescriptorResponse'] ?? {}) as {
        readonly fileDescriptorProto?: readonly Buffer[]
      }
      return Buffer.concat(fileDescriptorProto ?? []).toString('latin1')
    }
    expect(text(symbol)).toContain('spigw/v1/transformation.proto')
    expect(text(file)).toContain('HealthCheckRequest')
    expect(extension).toMatchObject({ errorResponse: { errorCode: status.NOT_FOUND } })
    expect(unknown).toMatchObject({ errorResponse: { errorCode: status.NOT_FOUND } })
    expect(nothing).toMatchObject({ errorResponse: { errorCode: status.INVALID_ARGUMENT } })
  })

  test('says what it does not know in the language of the caller', async () => {
    const answers = await askIn('pt-BR', version, { fileContainingSymbol: 'x' }, { host: 'here' })
    expect(answers).toMatchObject([
      { errorResponse: { errorMessage: 'Não existe esse arquivo nem esse símbolo.' } },
      { errorResponse: { errorMessage: 'A requisição não pede nada.' } },
    ])
  })

  test('gives the file of every service that it lists', async () => {
    for (const name of ['spigw.v1.TransformationService', ...versions.map(serviceOf)]) {
      const [answer] = await ask(version, { fileContainingSymbol: name })
      expect([name, Object.keys(answer ?? {})]).toEqual([
        name,
        expect.arrayContaining(['fileDescriptorResponse']),
      ])
    }
  })

  test('buf curl finds the call by itself, and makes it', async () => {
    const message = Buffer.from(pacs008()).toString('base64')
    const child = Bun.spawn(
      [
        join(root, 'node_modules/.bin/buf'),
        ...['curl', '--protocol', 'grpc', '--http2-prior-knowledge'],
        ...['--reflect-protocol', `grpc-${version}`],
        ...['--header', `authorization: Bearer ${rig.key}`],
        '--data',
        JSON.stringify({ source_format: 'pacs.008', message }),
        `http://127.0.0.1:${rig.port}${service}/Transform`,
      ],
      { stdout: 'pipe', stderr: 'pipe' },
    )
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect(err).toBe('')
    const answer = JSON.parse(out) as { readonly transformationId: string; readonly result: string }
    expect(answer.transformationId).toStartWith('trf_')
    expect(JSON.parse(atob(answer.result))).toHaveProperty('end_to_end_id')
  })

  test('is not there unless it is wanted', async () => {
    const plain = await startRig()
    const other = rawClient(plain.target)
    const error = await failure(other.unary(pathOf(version), Buffer.alloc(0)))
    expect(error.code).toBe(status.UNIMPLEMENTED)
    other.close()
    await plain.stop()
  })
})
