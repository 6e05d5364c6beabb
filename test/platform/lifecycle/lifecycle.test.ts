import { describe, expect, spyOn, test } from 'bun:test'
import {
  createGateway,
  createHealthReporter,
  createLifecycle,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { createAuthenticator } from '#src/platform/security/index.ts'
import { until } from '../../support/until.ts'

const logger = createLogger({ level: 'error', sink: { write: () => {} } })
const never = new Promise<void>(() => {})

describe('parts', () => {
  const recorded = (events: string[], name: string, more: object = {}) => ({
    name,
    start: () => void events.push(`start ${name}`),
    drain: () => void events.push(`drain ${name}`),
    stop: () => void events.push(`stop ${name}`),
    ...more,
  })

  test('start in order; drain, then stop, in reverse', async () => {
    const events: string[] = []
    const parts = ['a', 'b'].map((name) => recorded(events, name))
    const lifecycle = createLifecycle({ parts, logger, stopTimeoutMs: 20_000 })
    await lifecycle.start()
    expect(lifecycle.isDraining()).toBe(false)
    expect(await Promise.all([lifecycle.stop(), lifecycle.stop()])).toEqual([true, true])
    expect(lifecycle.isDraining()).toBe(true)
    expect(events).toEqual(['start a', 'start b', 'drain b', 'drain a', 'stop b', 'stop a'])
  })

  test('when one cannot start, those before it are stopped and the reason is thrown', async () => {
    const events: string[] = []
    const failing = { start: () => Promise.reject(new Error('no port')) }
    const parts = [recorded(events, 'a'), recorded(events, 'b', failing), recorded(events, 'c')]
    const lifecycle = createLifecycle({ parts, logger, stopTimeoutMs: 20_000 })
    await expect(lifecycle.start()).rejects.toThrow('no port')
    await lifecycle.stop()
    expect(events).not.toContain('start c')
    expect(events.slice(-2)).toEqual(['stop b', 'stop a'])
  })

  test('the reason is thrown before those that have started end', async () => {
    const ends = Promise.withResolvers<void>()
    const parts = [
      { name: 'a', stop: () => ends.promise },
      { name: 'b', start: () => Promise.reject(new Error('no port')) },
    ]
    const lifecycle = createLifecycle({ parts, logger, stopTimeoutMs: 120_000 })
    await expect(lifecycle.start()).rejects.toThrow('no port')
    expect(lifecycle.isDraining()).toBe(true)
    ends.resolve()
    expect(await lifecycle.stop()).toBe(true)
  })

  test('a start that waits is not waited for by a stop, and goes no further', async () => {
    const events: string[] = []
    const waiting = Promise.withResolvers<void>()
    const parts = [
      recorded(events, 'a'),
      recorded(events, 'b', { start: () => waiting.promise }),
      recorded(events, 'c'),
    ]
    const lifecycle = createLifecycle({ parts, logger, stopTimeoutMs: 20_000 })
    const starting = lifecycle.start()
    await until(() => Promise.resolve(events.includes('start a')))
    expect(await lifecycle.stop()).toBe(true)
    waiting.resolve()
    await starting
    expect(events).toEqual(['start a', 'drain b', 'drain a', 'stop b', 'stop a'])
  })

  test('one that hangs or throws does not keep the others from stopping', async () => {
    const events: string[] = []
    const parts = [
      recorded(events, 'a'),
      recorded(events, 'b', { stop: () => never }),
      recorded(events, 'c', { stop: () => Promise.reject(new Error('broken')) }),
    ]
    const lifecycle = createLifecycle({ parts, logger, stopTimeoutMs: 20 })
    await lifecycle.start()
    expect(await lifecycle.stop()).toBe(false)
    expect(events.at(-1)).toBe('stop a')
  })
})

test('one that drains or stops for ever leaves the others time', async () => {
  const [events, warned]: [string[], unknown[]] = [[], []]
  const sink = {
    write: (line: string) => {
      const { part, step, msg } = JSON.parse(line)
      warned.push([part, step, msg])
    },
  }
  const stopping = (name: string) => ({
    name,
    stop: async () => {
      await Bun.sleep(20)
      events.push(name)
    },
  })
  const parts = [
    stopping('leases'),
    { name: 'stuck', stop: () => never },
    stopping('consumer'),
    { name: 'jobs', drain: () => never },
  ]
  const told = createLogger({ level: 'warn', sink })
  const stopTimeoutMs = 3_000
  const lifecycle = createLifecycle({ parts, logger: told, stopTimeoutMs })
  await lifecycle.start()
  const beganMs = performance.now()
  expect(await lifecycle.stop()).toBe(false)
  // If each had a time of its own, both together would take twice as long.
  expect(performance.now() - beganMs).toBeLessThan(2 * stopTimeoutMs)
  expect(events).toEqual(['consumer', 'leases'])
  expect(warned).toEqual([
    ['jobs', 'drain', 'did not end in time'],
    ['stuck', 'stop', 'did not end in time'],
  ])
})

describe('health', () => {
  const report = (features: readonly Feature[]) => createHealthReporter(features, () => false)()

  test('a check that hangs or throws counts as down', async () => {
    const { checks } = await report([
      { name: 'good', health: () => ({ status: 'ok', ready: true }) },
      { name: 'hanging', health: () => new Promise(() => {}) },
      { name: 'broken', health: () => Promise.reject(new Error('x')) },
      { name: 'silent' },
    ])
    expect(Object.keys(checks).sort()).toEqual(['broken', 'good', 'hanging'])
    expect(checks['good']).toEqual({ status: 'ok', ready: true })
    expect(checks['hanging']).toMatchObject({ status: 'down', ready: false })
    expect(checks['broken']).toMatchObject({ status: 'down', ready: false })
  })
})

describe('the gateway', () => {
  const gatewayOf = (
    features: readonly Feature[],
    cardsPort: number,
    stopTimeoutMs = 20_000,
    drainMs = 0,
  ) =>
    createGateway({
      version: '9.9.9',
      features,
      authenticator: createAuthenticator({ sources: [] }),
      logger,
      cardsLogger: logger,
      metrics: createMetrics({ version: '9.9.9', withProcess: false }),
      metricsEnabled: true,
      http: { host: '127.0.0.1', port: 0 },
      admin: undefined,
      cards: { host: cardsPort === 0 ? '127.0.0.1' : '127.0.0.2', port: 0 },
      stopTimeoutMs,
      drainMs,
      stallMs: 60_000,
    })

  const document = { operation: 'x', summary: 'x', responses: {} } as const
  const routeAt = (path: string, handle: () => Response | Promise<Response>) =>
    [{ method: 'GET', path, scope: 'public', document, handle }] as const
  const cards: Feature = {
    name: 'cards',
    listener: 'cards',
    routes: routeAt('/v1/transactions', () => new Response('card')),
  }
  const spi: Feature = { name: 'spi', routes: routeAt('/v1/pix', () => new Response('pix')) }

  test('readiness tells what is wrong, also where the process can do its work', async () => {
    const checked = (ready: boolean, reason?: string): Feature => ({
      name: `${ready} ${reason}`,
      health: () => ({ status: 'degraded', ready, ...(reason === undefined ? {} : { reason }) }),
    })
    const answerOf = async (...features: readonly Feature[]) => {
      const gateway = gatewayOf(features, 0)
      const { httpUrl } = await gateway.start()
      const answer = await fetch(`${httpUrl}/ready`)
      const body: unknown = await answer.json()
      await gateway.stop()
      return [answer.status, body]
    }
    expect(await answerOf(checked(true))).toEqual([200, { status: 'ready' }])
    expect(await answerOf(checked(true, 'silent'), checked(true, 'slow'))).toEqual([
      200,
      { status: 'ready', degraded: ['silent', 'slow'] },
    ])
    expect(await answerOf(checked(true, 'silent'), checked(false, 'away'))).toEqual([
      503,
      { status: 'not_ready', reason: 'away' },
    ])
  })

  test('serves all on one listener when the addresses are the same', async () => {
    const gateway = gatewayOf([spi, cards], 0)
    const { httpUrl, cardsUrl } = await gateway.start()
    expect(cardsUrl).toBe(httpUrl)
    expect(await (await fetch(`${httpUrl}/v1/pix`)).text()).toBe('pix')
    expect(await (await fetch(`${httpUrl}/v1/transactions`)).text()).toBe('card')
    expect(await gateway.stop()).toBe(true)
  })

  test('keeps cards apart on its own listener, both with the shared endpoints', async () => {
    const gateway = gatewayOf([spi, cards], 1)
    const { httpUrl, cardsUrl } = await gateway.start()
    expect((await fetch(`${httpUrl}/v1/transactions`)).status).toBe(404)
    expect((await fetch(`${cardsUrl}/v1/pix`)).status).toBe(404)
    expect(await (await fetch(`${cardsUrl}/v1/transactions`)).text()).toBe('card')
    for (const url of [httpUrl, cardsUrl]) expect((await fetch(`${url}/health`)).status).toBe(200)
    const { paths } = (await (await fetch(`${cardsUrl}/openapi.json`)).json()) as { paths: object }
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/v1/pix', '/v1/transactions']))
    await gateway.stop()
  })

  test('a database that is down: healthy but degraded, and not ready', async () => {
    const database: Feature = {
      name: 'database',
      health: () => ({ status: 'down', ready: false }),
    }
    const gateway = gatewayOf([database], 0)
    const { httpUrl } = await gateway.start()
    const health = await fetch(`${httpUrl}/health`)
    expect(health.status).toBe(200)
    expect(await health.json()).toEqual({ status: 'degraded', version: '9.9.9', database: 'down' })
    const ready = await fetch(`${httpUrl}/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toEqual({ status: 'not_ready', reason: 'database' })
    await gateway.stop()
  })

  test('lets a running request end, says not ready meanwhile, and takes no new connection', async () => {
    const finish = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    const slow: Feature = {
      name: 'slow',
      routes: routeAt('/slow', async () => {
        entered.resolve()
        await finish.promise
        return new Response('done')
      }),
      drain: () => entered.promise,
    }
    const gateway = gatewayOf([slow], 0)
    const { httpUrl } = await gateway.start()
    const answer = fetch(`${httpUrl}/slow`).then((response) => response.text())
    await entered.promise
    const stopped = gateway.stop()
    await Bun.sleep(20)
    finish.resolve()
    expect(await answer).toBe('done')
    expect(await stopped).toBe(true)
    await expect(fetch(`${httpUrl}/health`)).rejects.toThrow()
  })

  test('serves on while it leaves, not ready, and asks callers to connect anew', async () => {
    let leaveMs = 0
    const leave = (withinMs: number): void => {
      leaveMs = withinMs
    }
    // It is as if this long time were over when the test says so.
    const longMs = 600_000
    const isOver = Promise.withResolvers<void>()
    const sleep = Bun.sleep.bind(Bun)
    using _ = spyOn(Bun, 'sleep').mockImplementation(async (ms) =>
      ms === longMs ? isOver.promise : sleep(ms),
    )
    const gateway = gatewayOf([{ ...spi, leave }], 0, 20_000, longMs)
    const { httpUrl } = await gateway.start()
    const before = await fetch(`${httpUrl}/v1/pix`)
    expect(before.headers.get('connection')).not.toBe('close')
    const stopped = gateway.stop()
    const ready = await fetch(`${httpUrl}/ready`)
    expect(await ready.json()).toEqual({ status: 'not_ready', reason: 'draining' })
    expect(ready.status).toBe(503)
    const during = await fetch(`${httpUrl}/v1/pix`)
    expect([during.status, during.headers.get('connection')]).toEqual([200, 'close'])
    expect(leaveMs).toBe(longMs)
    isOver.resolve()
    expect(await stopped).toBe(true)
    await expect(fetch(`${httpUrl}/v1/pix`)).rejects.toThrow()
  })

  test('takes no new connection while something drains', async () => {
    const drains = Promise.withResolvers<void>()
    const gateway = gatewayOf([{ ...spi, drain: () => drains.promise }], 0)
    const { httpUrl } = await gateway.start()
    const stopped = gateway.stop()
    await until(
      async () =>
        await fetch(`${httpUrl}/v1/pix`).then(
          () => false,
          () => true,
        ),
    )
    drains.resolve()
    expect(await stopped).toBe(true)
  })

  test('does not wait when it is to stop at once', async () => {
    const gateway = gatewayOf([spi], 0, 20_000, 60_000)
    await gateway.start()
    expect(await gateway.stop(true)).toBe(true)
  })

  test('cuts off what never ends', async () => {
    const stuck: Feature = { name: 'stuck', routes: routeAt('/stuck', () => new Promise(() => {})) }
    const gateway = gatewayOf([stuck], 0, 400)
    const { httpUrl } = await gateway.start()
    const answer = fetch(`${httpUrl}/stuck`).then(
      () => 'answered',
      () => 'cut',
    )
    await Bun.sleep(30)
    await gateway.stop()
    expect(await answer).toBe('cut')
  })

  test('lists its error catalogue, where the type of a problem leads', async () => {
    const gateway = gatewayOf([], 0)
    const { httpUrl } = await gateway.start()
    const problem = (await (await fetch(`${httpUrl}/nowhere`)).json()) as { type: string }
    const entry = (await (await fetch(httpUrl + problem.type)).json()) as object
    expect(entry).toMatchObject({ code: 'not_found', status: 404, remedy: expect.any(String) })
    const { errors } = (await (await fetch(`${httpUrl}/v1/errors`)).json()) as { errors: object[] }
    expect(errors).toContainEqual(entry)
    expect((await fetch(`${httpUrl}/v1/errors/none`)).status).toBe(404)
    await gateway.stop()
  })
})
