import { expect, test } from 'bun:test'
import { logLevelRoutes } from '#src/platform/http/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { testApp, testKey } from '../../support/app.ts'

test('the level of every logger changes while the process runs', async () => {
  const lines: string[] = []
  const loggers = [1, 2].map(() =>
    createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } }),
  )
  const { key, record } = testKey('ops:admin', 'ops:read')
  const reader = testKey('ops:read')
  const told: string[] = []
  const routes = logLevelRoutes(loggers, (level) => told.push(level))
  const { call } = testApp(routes, { keys: [record, reader.record] })
  const put = (level: unknown, by = key) =>
    call('PUT', '/v1/ops/log-level', { key: by, body: { level } })

  for (const logger of loggers) logger.debug({}, 'unseen')
  expect(await (await call('GET', '/v1/ops/log-level', { key })).json()).toEqual({ level: 'info' })
  expect((await put('debug', reader.key)).status).toBe(403)
  expect((await put('verbose')).status).toBe(400)
  expect(await (await put('debug')).json()).toEqual({ level: 'debug' })
  for (const logger of loggers) logger.debug({}, 'seen')
  await put('error')
  for (const logger of loggers) logger.warn({}, 'unseen')
  expect(told).toEqual(['debug', 'error'])
  expect(lines).toHaveLength(2)
  expect(lines.every((line) => line.includes('"msg":"seen"'))).toBe(true)
})
