import {
  status as codes,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { type Incoming, malformed, serverMethod } from './methods.ts'
import { readFields, readText, WireError, wireTypes, writeFields } from './wire.ts'

/* The standard health protocol, grpc.health.v1: for load balancers, so it needs no key. */

export const healthService = 'grpc.health.v1.Health'

const statuses = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const
type ServingStatus = keyof typeof statuses

/** The name of the service that the client asks for. */
const readHealthRequest = (bytes: Uint8Array): { readonly service: string } => {
  let service = ''
  readFields(bytes, (number, type, reader) => {
    if (number !== 1 || type !== wireTypes.bytes) return false
    service = readText(reader)
    return true
  })
  return { service }
}

const writeStatus = (status: ServingStatus) =>
  writeFields([{ number: 1, varint: statuses[status] }])

export const healthDefinition: ServiceDefinition = {
  Check: serverMethod(`/${healthService}/Check`, readHealthRequest, writeStatus),
  Watch: serverMethod(`/${healthService}/Watch`, readHealthRequest, writeStatus, 'answers'),
}

type HealthRequest = Incoming<{ readonly service: string }>

/** `services`: the names that we serve; the empty name is the whole server. */
export const createHealth = (services: readonly string[]) => {
  const known = new Set(['', ...services])
  const watches = new Set<ServerWritableStream<HealthRequest, ServingStatus>>()
  let isServing = true
  const current = (): ServingStatus => (isServing ? 'SERVING' : 'NOT_SERVING')

  const check: handleUnaryCall<HealthRequest, ServingStatus> = ({ request, metadata }, reply) => {
    if (request instanceof WireError) reply(malformed(request, metadata))
    else if (known.has(request.service)) reply(null, current())
    else reply({ code: codes.NOT_FOUND, details: 'There is no such service.' })
  }

  const watch: handleServerStreamingCall<HealthRequest, ServingStatus> = (call) => {
    const { request } = call
    if (request instanceof WireError) {
      call.emit('error', malformed(request, call.metadata))
      return
    }
    const isKnown = known.has(request.service)
    call.write(isKnown ? current() : 'SERVICE_UNKNOWN')
    if (!isServing) {
      call.end()
      return
    }
    watches.add(call)
    call.on('cancelled', () => watches.delete(call))
  }

  return {
    handlers: { Check: check, Watch: watch },
    /** Says NOT_SERVING from now on and ends every watch, so that none holds up the stop. */
    stopServing: (): void => {
      isServing = false
      for (const call of watches) {
        if (!(call.request instanceof WireError) && known.has(call.request.service)) {
          call.write('NOT_SERVING')
        }
        call.end()
      }
      watches.clear()
    },
  }
}
