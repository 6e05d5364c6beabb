import { expect, test } from 'bun:test'
import { portAttemptsMax, whilePortsAreTaken } from '../../../src/cli/dev/environment.ts'

const taken = Object.assign(new Error('the port is taken'), { code: 'EADDRINUSE' })

/** How many times it is tried where so many attempts fail, and how that ends. */
const outcomeOf = async (failures: number, error: unknown = taken) => {
  let attempts = 0
  const end = await whilePortsAreTaken(async () => {
    if (attempts++ < failures) throw error
    return 'started'
  }).catch((thrown: unknown) => thrown)
  return [attempts, end]
}

test('a port that somebody took just before is no reason to give up, until it is one time too many', async () => {
  expect(await outcomeOf(0)).toEqual([1, 'started'])
  expect(await outcomeOf(portAttemptsMax - 1)).toEqual([portAttemptsMax, 'started'])
  expect(await outcomeOf(portAttemptsMax)).toEqual([portAttemptsMax, taken])
})

test('anything else that keeps it from starting ends it', async () => {
  const other = new Error('no database')
  expect(await outcomeOf(1, other)).toEqual([1, other])
})

test('two that listen on one port: the second is told by the code that is looked at', () => {
  const first = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const second = () =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: first.port ?? 0,
      reusePort: false,
      fetch: () => new Response(),
    })
  expect(second).toThrow(expect.objectContaining({ code: 'EADDRINUSE' }) as never)
  first.stop(true)
})
