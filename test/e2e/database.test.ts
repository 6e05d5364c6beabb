import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createTestDatabase } from '../support/database.ts'
import { anyVariant, runProgram, startProgram } from '../support/program.ts'

setDefaultTimeout(60_000)

const anyPort = { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }

describe(`with a database (${anyVariant.name})`, () => {
  test('migrate lists what is missing, applies it once, and has nothing left to do', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    await sql.unsafe('drop schema public cascade; create schema public')
    const env = { DATABASE_DSN: dsn }
    const migrate = async (...args: string[]) => {
      const { code, out } = await runProgram(anyVariant, ['migrate', '--json', ...args], { env })
      expect(code).toBe(0)
      return JSON.parse(out) as { missing?: string[]; applied?: string[] }
    }
    const { missing = [] } = await migrate('--dry-run')
    expect(missing[0]).toBe('0000_idempotency')
    expect((await migrate()).applied).toEqual(missing)
    expect((await migrate()).applied).toEqual([])
    await close()
  })

  test('migrate without a database says which setting it needs', async () => {
    const { code, err } = await runProgram(anyVariant, ['migrate'])
    expect(code).toBe(1)
    expect(err).toContain('DATABASE_DSN')
  })

  test('serve is ready once the schema is there, and refuses a newer one', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const env = { ...anyPort, DATABASE_DSN: dsn }
    const program = startProgram(anyVariant, ['serve'], { env })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    const { http_url: url } = JSON.parse(line) as { http_url: string }
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ database: 'ok' })
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    expect(out).not.toContain(new URL(dsn).password)
    await sql`insert into schema_migrations (name, sha256) values ('9999_future', 'x')`
    const refused = await runProgram(anyVariant, ['serve'], { env })
    expect(refused.code).toBe(1)
    expect(refused.out).toContain('9999_future')
    await close()
  })

  test('doctor names what is missing and how to get it', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const doctor = async (env: Record<string, string>) => {
      const { code, out } = await runProgram(anyVariant, ['doctor', '--json'], {
        env: { ...anyPort, ...env },
      })
      const { checks } = JSON.parse(out) as {
        checks: { name: string; status: string; detail: string; fix?: string }[]
      }
      return { code, found: (name: string) => checks.find((check) => check.name === name) }
    }
    const good = await doctor({ DATABASE_DSN: dsn })
    expect(good.code).toBe(0)
    expect(good.found('Settings')).toEqual({ name: 'Settings', status: 'ok', detail: 'no problem' })
    expect(good.found('Database')).toMatchObject({ status: 'ok' })
    expect(good.found('API keys')).toMatchObject({ status: 'warning' })
    await sql`delete from schema_migrations where name = '0000_idempotency'`
    expect((await doctor({ DATABASE_DSN: dsn })).found('Database')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('missing'),
    })
    await close()
    const away = await doctor({ DATABASE_DSN: 'postgres://trilho:s3cret@127.0.0.1:1/trilho' })
    expect(away.code).toBe(1)
    expect(away.found('Database')).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(away.found('Database'))).not.toContain('s3cret')
    const bad = await doctor({ LOG_LEVEL: 'loud' })
    expect(bad.code).toBe(1)
    expect(bad.found('LOG_LEVEL')).toMatchObject({ status: 'failed' })
  })

  test('keys live in the database when there is one', async () => {
    const { dsn, close } = await createTestDatabase()
    const env = { ...anyPort, DATABASE_DSN: dsn }
    const create = ['keys', 'create', '--name', 'ops', '--scopes', 'spi:transform', '--json']
    const { id, key } = JSON.parse((await runProgram(anyVariant, create, { env })).out) as {
      id: string
      key: string
    }
    const program = startProgram(anyVariant, ['serve'], { env })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    const { http_url: url } = JSON.parse(line) as { http_url: string }
    const headers = { Authorization: `Bearer ${key}` }
    expect((await fetch(`${url}/v1/transformations`, { headers })).status).toBe(200)
    expect((await fetch(`${url}/v1/transformations`)).status).toBe(401)
    program.signal('SIGTERM')
    await program.end()
    const listed = await runProgram(anyVariant, ['keys', 'list', '--json'], { env })
    expect(JSON.parse(listed.out)).toMatchObject({
      keys: [{ id, last_used_at: expect.stringContaining('T') }],
    })
    await close()
  })

  test('serve with the database away runs, degraded and not ready, and one line tells which setting names it', async () => {
    const program = startProgram(anyVariant, ['serve'], {
      env: {
        ...anyPort,
        DATABASE_DSN: 'postgres://trilho:x@127.0.0.1:1/trilho',
        TRILHO_MASTER_KEY: randomBytes(32).toString('base64'),
      },
    })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    const { http_url: url } = JSON.parse(line) as { http_url: string }
    const health = await fetch(`${url}/health`)
    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ status: 'degraded', database: 'down' })
    expect((await fetch(`${url}/ready`)).status).toBe(503)
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    const failures = out
      .split('\n')
      .filter((text) => text.includes('"err"'))
      .map((text) => JSON.parse(text) as Record<string, unknown>)
    expect(failures).toMatchObject([
      {
        level: 'error',
        setting: 'DATABASE_DSN',
        err: { message: expect.stringContaining('ECONNREFUSED') },
        msg: 'the database cannot be used yet: not ready',
      },
    ])
  })
})
