import { z } from 'zod'
import { type Logger, logLevels } from '../observe/index.ts'
import { readJson } from './body.ts'
import type { Route } from './route.ts'

const path = '/v1/ops/log-level'
const tag = 'Operation'
const body = z.strictObject({ level: z.enum(logLevels) }).meta({ id: 'LogLevel' })

/** The lowest level that any logger logs; a change lasts as long as the process. */
export const logLevelRoutes = (loggers: readonly Logger[]): readonly Route[] => [
  {
    method: 'GET',
    path,
    scope: 'ops:read',
    document: {
      operation: 'getLogLevel',
      summary: 'The least level logged now',
      tag,
      responses: { 200: { description: 'The level', schema: body } },
    },
    handle: (c) => c.json({ level: loggers[0]?.level }),
  },
  {
    method: 'PUT',
    path,
    scope: 'ops:admin',
    ofInstitution: true,
    act: 'log_level.set',
    document: {
      operation: 'setLogLevel',
      summary: 'Changes the least level logged, until the process ends',
      description:
        'For a look at what is wrong without a restart. `LOG_LEVEL` holds again after one.',
      tag,
      body: { 'application/json': body },
      responses: { 200: { description: 'The level', schema: body } },
    },
    handle: async (c) => {
      const { level } = await readJson(c, body)
      for (const logger of loggers) logger.level = level
      return c.json({ level })
    },
  },
]
