import {
  status as codes,
  type handleBidiStreamingCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { type Language, portugueseOf } from '#src/platform/http/index.ts'
import files from './generated/descriptors.json' with { type: 'json' }
import { languageOfCall } from './metadata.ts'
import { type Incoming, malformed, serverMethod } from './methods.ts'
import { readBytes, readFields, readText, WireError, wireTypes, writeFields } from './wire.ts'

/*
 * The standard reflection protocol, grpc.reflection.v1: lets grpcurl and buf curl call without a .proto. Older clients
 * know it as v1alpha, with the same messages.
 */

export const reflectionServices = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const

type Question =
  | { readonly kind: 'file' | 'symbol'; readonly name: string }
  | { readonly kind: 'services' }
  | { readonly kind: 'extension' }
  | { readonly kind: 'none' }

type ReflectionRequest = {
  readonly host: string
  readonly question: Question
  /** The request as it came: we send it back. */
  readonly original: Uint8Array
}

const readReflectionRequest = (original: Uint8Array): ReflectionRequest => {
  let host = ''
  let question: Question = { kind: 'none' }
  readFields(original, (number, type, reader) => {
    if (type !== wireTypes.bytes) return false
    switch (number) {
      case 1:
        host = readText(reader)
        return true
      case 3:
        question = { kind: 'file', name: readText(reader) }
        return true
      case 4:
        question = { kind: 'symbol', name: readText(reader) }
        return true
      case 5:
        readBytes(reader)
        question = { kind: 'extension' }
        return true
      case 6:
        readText(reader)
        question = { kind: 'extension' }
        return true
      case 7:
        readText(reader)
        question = { kind: 'services' }
        return true
      default:
        return false
    }
  })
  return { host, question, original }
}

export const reflectionDefinitions: readonly ServiceDefinition[] = reflectionServices.map(
  (service) => ({
    ServerReflectionInfo: serverMethod(
      `/${service}/ServerReflectionInfo`,
      readReflectionRequest,
      (bytes: Buffer) => bytes,
      'both',
    ),
  }),
)

const byName = new Map<string, Buffer>()
const bySymbol = new Map<string, Buffer>()
for (const { name, symbols, descriptor } of files) {
  const answer = writeFields([{ number: 1, message: Buffer.from(descriptor, 'base64') }])
  byName.set(name, answer)
  for (const symbol of symbols) bySymbol.set(symbol, answer)
}

const answerTo = (question: Question, services: Buffer, language: Language) => {
  const problem = (code: number, message: string) => {
    const text = language === 'en' ? message : (portugueseOf(message) ?? message)
    const fields = [{ number: 1, varint: code } as const, { number: 2, text } as const]
    return { number: 7, message: writeFields(fields) }
  }
  const found = (answer: Buffer | undefined) =>
    answer === undefined
      ? problem(codes.NOT_FOUND, 'There is no such file or symbol.')
      : { number: 4, message: answer }
  switch (question.kind) {
    case 'file':
      return found(byName.get(question.name))
    case 'symbol':
      return found(bySymbol.get(question.name))
    case 'services':
      return { number: 6, message: services }
    case 'extension':
      return problem(codes.NOT_FOUND, 'There are no extensions.')
    case 'none':
      return problem(codes.INVALID_ARGUMENT, 'The request asks for nothing.')
  }
}

/** `services`: the names to list. */
export const reflectionHandlers = (services: readonly string[]): UntypedServiceImplementation => {
  const listed = writeFields(
    services.map((name) => ({ number: 1, message: writeFields([{ number: 1, text: name }]) })),
  )
  const info: handleBidiStreamingCall<Incoming<ReflectionRequest>, Buffer> = (call) => {
    call.on('data', (request: Incoming<ReflectionRequest>) => {
      if (request instanceof WireError) {
        call.emit('error', malformed(request, call.metadata))
        return
      }
      const response = writeFields([
        { number: 1, text: request.host },
        { number: 2, message: request.original },
        answerTo(request.question, listed, languageOfCall(call.metadata)),
      ])
      if (call.write(response)) return
      call.pause()
      call.once('drain', () => call.resume())
    })
    call.on('end', () => setImmediate(() => call.end()))
  }
  return { ServerReflectionInfo: info }
}
