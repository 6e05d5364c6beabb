import { z } from 'zod'
import { type Logger, type LogLevel, logLevels } from '../observe/index.ts'
import { route } from './asked.ts'
import type { Route, RouteContract } from './route.ts'

const body = z.strictObject({ level: z.enum(logLevels) }).meta({ id: 'LogLevel' })

const documents = {
  getLogLevel: {
    at: 'GET /v1/ops/log-level',
    scope: 'ops:read',
    operation: 'getLogLevel',
    summary: 'The least level logged now',
    responses: { 200: { description: 'The level', schema: body } },
  },
  setLogLevel: {
    at: 'PUT /v1/ops/log-level',
    scope: 'ops:admin',
    ofInstitution: true,
    act: 'log_level.set',
    operation: 'setLogLevel',
    summary: 'Changes the least level logged, until the process ends',
    description:
      'For a look at what is wrong without a restart. `LOG_LEVEL` holds again after one.',
    body: { 'application/json': body },
    responses: { 200: { description: 'The level', schema: body } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>

/**
 * The lowest level that any logger logs; a change lasts as long as the process.
 *
 * @param onChange tells the other processes that serve at the same addresses
 */
export const logLevelRoutes = (
  loggers: readonly Logger[],
  onChange: (level: LogLevel) => void = () => {},
): readonly Route[] => [
  route(documents.getLogLevel, ({ c }) => c.json({ level: loggers[0]?.level })),
  route(documents.setLogLevel, async ({ body: { level }, c }) => {
    for (const logger of loggers) logger.level = level
    onChange(level)
    return c.json({ level })
  }),
]
