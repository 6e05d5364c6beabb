import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { commandHere } from '../support/command-here.ts'
import { anyVariant, bareEnvironment, runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(180_000)

test('each command has help with an example and the exit codes', async () => {
  const { out: overview } = await commandHere(['--help'])
  const commands = [...overview.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name]) => name ?? '')
  expect(commands).toEqual(expect.arrayContaining(['dev', 'serve', 'support-bundle', 'inspect']))
  for (const name of commands) {
    const help = await commandHere([name, '--help'])
    expect([name, help.code, help.err]).toEqual([name, 0, ''])
    expect(help.out).toMatch(new RegExp(`Examples?:\\n(?: {2}.*\\n)*? {2}.*trilho ${name}`))
    expect(help.out).toContain('Exit codes: 0 done')
  }
})

describe(`trilho (${anyVariant.name})`, () => {
  test('lists its commands', async () => {
    const { code, out } = await runProgram(anyVariant, ['--help'])
    expect([code, out]).toEqual([0, (await commandHere(['--help'])).out])
  })

  test('says its version', async () => {
    const { code, out } = await runProgram(anyVariant, ['--version'])
    expect(code).toBe(0)
    expect(out).toMatch(/^trilho \d+\.\d+\.\d+ \(bun \d/)
  })

  test('a support bundle goes to standard output, and what is told of it to the other one', async () => {
    const child = Bun.spawn([...anyVariant.command(), 'support-bundle', '--out', '-'], {
      cwd: temporaryDirectory(),
      env: bareEnvironment(),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [bytes, told] = await Promise.all([
      new Response(child.stdout).arrayBuffer(),
      new Response(child.stderr).text(),
    ])
    expect([await child.exited, told]).toEqual([0, expect.stringMatching(/^-: README\.txt, /)])
    const files = await new Bun.Archive(bytes).files()
    expect([...files.keys()]).toContain('settings.json')
  })

  test('answers wrong usage with 2 and where to look', async () => {
    for (const args of [
      ['nothing'],
      ['keys'],
      ['serve', 'extra'],
      ['dev', '--unknown'],
      ['inspect'],
    ]) {
      const { code, out, err } = await runProgram(anyVariant, args)
      expect(code).toBe(2)
      expect(out).toBe('')
      expect(err).toContain('--help')
    }
  })

  test('config shows what is in force with secrets masked', async () => {
    const { code, out } = await runProgram(anyVariant, ['config', '--json'], {
      env: { LOG_LEVEL: 'debug' },
    })
    expect(code).toBe(0)
    const { settings } = JSON.parse(out) as { settings: unknown[] }
    expect(settings).toContainEqual({ name: 'LOG_LEVEL', value: 'debug', source: 'environment' })
    expect(settings).toContainEqual({ name: 'HTTP_ADDR', value: ':8080', source: 'default' })
    const bad = await runProgram(anyVariant, ['config'], { env: { LOG_LEVEL: 'loud' } })
    expect(bad.code).toBe(78)
  })

  test('keys are created, listed without their hash, and revoked once', async () => {
    const file = ['--file', join(temporaryDirectory(), 'keys.json')]
    const created = await runProgram(anyVariant, [
      'keys',
      'create',
      '--name',
      'shop',
      '--scopes',
      'cards:*',
      '--days',
      '30',
      ...file,
    ])
    expect(created.code).toBe(0)
    // By default the gateway is one for trials.
    expect(created.out).toMatch(/^trl_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/)
    const listed = await runProgram(anyVariant, ['keys', 'list', '--json', ...file])
    expect(listed.out).not.toContain('hash')
    const { keys } = JSON.parse(listed.out) as { keys: { id: string; scopes: string[] }[] }
    expect(keys).toMatchObject([{ name: 'shop', scopes: ['cards:*'], revoked_at: null }])
    const id = keys[0]?.id ?? ''
    expect(created.out).toContain(id)
    const rotated = await runProgram(anyVariant, ['keys', 'rotate', id, ...file])
    expect(rotated.out).toStartWith(`trl_test_${id}_`)
    const restricted = ['--merchants', 'M1,M2', '--addresses', '192.0.2.0/24', '--read-only']
    const changed = await runProgram(anyVariant, ['keys', 'change', id, ...restricted, ...file])
    expect(changed.code).toBe(0)
    const wrong = await runProgram(anyVariant, [
      'keys',
      'change',
      id,
      '--addresses',
      '192.0.2.0/33',
      ...file,
    ])
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--addresses')])
    const nothing = await runProgram(anyVariant, ['keys', 'change', id, ...file])
    expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('--unrestricted')])
    const shown = (await runProgram(anyVariant, ['keys', 'list', ...file])).out
    expect(shown).toContain('merchant_ids=M1,M2 read_only addresses=192.0.2.0/24')
    expect((await runProgram(anyVariant, ['keys', 'revoke', id, ...file])).code).toBe(0)
    expect((await runProgram(anyVariant, ['keys', 'revoke', id, ...file])).code).toBe(1)
    expect((await runProgram(anyVariant, ['keys', 'list', ...file])).out).toContain('revoked')
    const live = await runProgram(
      anyVariant,
      ['keys', 'create', '--name', 'a', '--scopes', '*', ...file],
      { env: { TRILHO_ENVIRONMENT: 'production' } },
    )
    expect(live.out).toStartWith('trl_live_')
  })
})
