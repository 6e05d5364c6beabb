import { loadSettings } from '#src/platform/config/index.ts'
import { createOutsideReader, outsideSettings } from '#src/platform/http/index.ts'
import {
  createJose,
  type JoseFeature,
  type JoseKeySource,
  joseSettings,
} from '../../src/jose/index.ts'
import { testApp, testKey } from './app.ts'
import { quietLogger } from './database.ts'

export const noKeys: JoseKeySource = { list: async () => [], readKey: async () => undefined }

/** The feature, which may read what lies on this machine. */
export const joseFeature = (
  keys: JoseKeySource | undefined,
  env: Readonly<Record<string, string>> = {},
): JoseFeature => {
  const here = { TRILHO_FETCH_ALLOWED_TARGETS: '127.0.0.1', TRILHO_FETCH_TIMEOUT: '2' }
  const groups = { jose: joseSettings, outside: outsideSettings }
  const { values, problems } = loadSettings(groups, { ...here, ...env })
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  const readOutside = createOutsideReader(values.outside, 'test')
  return createJose({ keys, settings: values.jose, readOutside, logger: quietLogger })
}

/** Calls the endpoints of a feature with a key of the scope. */
export const callerOf = ({ routes = [] }: Pick<JoseFeature, 'routes'>, scope = 'jose:use') => {
  const { key, record } = testKey(scope)
  const app = testApp(routes, { keys: [record] })
  return async (path: string, body?: unknown) => {
    const request = body === undefined ? { key } : { key, body }
    const response = await app.call(body === undefined ? 'GET' : 'POST', path, request)
    return { status: response.status, json: JSON.parse(await response.text()) }
  }
}
