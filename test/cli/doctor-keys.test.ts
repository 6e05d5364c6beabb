/** A key that is active, and refused because it is of the other environment, lets nobody in. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { PlatformSettings } from '#src/platform/config/index.ts'
import { checkKeys } from '../../src/cli/doctor/checks.ts'
import { commandHere } from '../support/command-here.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const settings = (environment: string, apiKeysFile?: string) =>
  ({ environment, apiKeysFile }) as unknown as PlatformSettings
const create = ['keys', 'create', '--name', 'shop', '--scopes', '*']

test('in the file', async () => {
  const file = join(temporaryDirectory(), 'keys.json')
  await commandHere([...create, '--file', file], {})
  const check = async (environment: string) =>
    (await checkKeys(settings(environment, file), undefined, quietLogger))[0]
  expect(await check('sandbox')).toMatchObject({
    status: 'ok',
    detail: '1 of 1 keys are active',
  })
  expect(await check('production')).toMatchObject({
    status: 'warning',
    detail: '1 of 1 keys are active; refused here, where keys are trl_live_: 1',
  })
  await commandHere([...create, '--file', file, '--live'], {})
  expect((await check('production'))?.status).toBe('ok')
})

test('in the file and in the database, as serve takes both', async () => {
  const { dsn, close } = await createTestDatabase()
  const file = join(temporaryDirectory(), 'keys.json')
  const check = () => checkKeys(settings('sandbox', file), dsn, quietLogger)
  const detail = `0 of 0 keys are active; ${file} does not exist; 0 of 0 keys in the database are active`
  expect(await check()).toMatchObject([{ status: 'warning', detail }])
  await commandHere(create, { DATABASE_DSN: dsn })
  expect(await check()).toMatchObject([{ status: 'ok' }])
  await Bun.write(file, 'none')
  expect(await check()).toMatchObject([{ status: 'failed' }, { status: 'ok' }])
  await close()
})

test('in the database, where one that says none is of either', async () => {
  const { dsn, sql, close } = await createTestDatabase()
  const check = async (environment: string) =>
    (await checkKeys(settings(environment), dsn, quietLogger))[0]
  await commandHere(create, { DATABASE_DSN: dsn })
  expect((await check('sandbox'))?.status).toBe('ok')
  expect(await check('production')).toMatchObject({
    status: 'warning',
    detail: '1 of 1 keys in the database are active; refused here, where keys are trl_live_: 1',
  })
  await sql`update api_keys set environment = null`
  expect((await check('production'))?.status).toBe('ok')
  await close()
})
