/** What each of several workers is told to do: its part of what the operator chose, and nothing besides. */
import { expect, test } from 'bun:test'
import { environmentOf } from '../../src/cli/workers/environment.ts'
import { program } from '../../src/main.ts'

const ports = { http: 1, cards: 1, admin: undefined, pix: undefined }

const rolesOf = (chosen: Readonly<Record<string, string>>) => {
  const env = {
    ...chosen,
    DATABASE_DSN: 'postgres://a@b/c',
    ISPB: '12345678',
    SPI_PRIMARY_URL: 'https://x',
  }
  const { platform } = program.load(env)
  return [1, 2].map((number) => {
    const { TRILHO_ROLES, SPI_ROLES } = environmentOf(env, platform, { number, count: 2, ports })
    return { TRILHO_ROLES, SPI_ROLES }
  })
}

test('a worker that runs stages alone is given no job', () => {
  const none = { TRILHO_ROLES: 'worker' }
  expect(rolesOf({ TRILHO_ROLES: 'worker,send', SPI_ROLES: 'WORKER,OUTBOUND_SEND' })).toEqual([
    { ...none, SPI_ROLES: 'WORKER' },
    { ...none, SPI_ROLES: 'WORKER,OUTBOUND_SEND' },
  ])
  expect(rolesOf({ TRILHO_ROLES: 'grpc', SPI_ROLES: 'WORKER' })).toEqual([
    { TRILHO_ROLES: 'grpc', SPI_ROLES: 'WORKER' },
    { ...none, SPI_ROLES: 'WORKER' },
  ])
  expect(rolesOf({ TRILHO_ROLES: 'worker,send' })).toEqual([
    { TRILHO_ROLES: 'worker', SPI_ROLES: undefined },
    { TRILHO_ROLES: 'worker,send', SPI_ROLES: undefined },
  ])
})
