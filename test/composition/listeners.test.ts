import { expect, test } from 'bun:test'
import { jointProblems, settingGroups } from '#src/composition/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'

const problemsOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  const { values, problems } = loadSettings(settingGroups, env)
  expect(problems).toEqual([])
  return jointProblems(values).map(({ name, problem }) => `${name} ${problem}`)
}

const http = { HTTP_ADDR: '127.0.0.1:7000', CARDGW_PORT: '7000' }

test.each<Readonly<Record<string, string>>>([
  {},
  http,
  { ...http, CARDGW_PORT: '7001' },
  { ...http, TRILHO_ADMIN_ADDR: '127.0.0.2:7000' },
  { ...http, GRPC_ADDR: '127.0.0.1:7000', TRILHO_ROLES: 'api' },
  { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', GRPC_ADDR: '127.0.0.1:0', PIX_API_ADDR: ':0' },
])('listeners of their own addresses are taken: %j', (env) => {
  expect(problemsOf(env)).toEqual([])
})

test.each([
  [{ TRILHO_ADMIN_ADDR: '127.0.0.1:7000' }, 'TRILHO_ADMIN_ADDR is where HTTP_ADDR listens'],
  [{ PIX_API_ADDR: ':7000' }, 'PIX_API_ADDR is where HTTP_ADDR listens'],
  [{ GRPC_ADDR: ':7000' }, 'GRPC_ADDR is where HTTP_ADDR listens'],
  [{ PIX_API_ADDR: 'localhost:7000' }, 'PIX_API_ADDR is where HTTP_ADDR listens'],
  [{ CARDGW_PORT: '9090', GRPC_ADDR: '127.0.0.1:9090' }, 'GRPC_ADDR is where CARDGW_PORT listens'],
  [
    { TRILHO_ADMIN_ADDR: '[::1]:7001', PIX_API_ADDR: '0.0.0.0:7001' },
    'PIX_API_ADDR is where TRILHO_ADMIN_ADDR listens',
  ],
])('two listeners of one address are refused: %j', (env, problem) => {
  expect(problemsOf({ ...http, ...env })).toEqual([problem])
})
