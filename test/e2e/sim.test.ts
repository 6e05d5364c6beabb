import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { JsonRpcProvider } from 'ethers'
import { createNetwork } from '../../src/cards/networks/index.ts'
import { networkOptions, payment, until } from '../support/card-network.ts'
import { commandHere } from '../support/command-here.ts'
import { createParticipant, payment as creditTransfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(60_000)

describe(`trilho sim (${anyVariant.name})`, () => {
  test('card-network answers payments, resolves tokens and says at the end what happened', async () => {
    const program = startProgram(anyVariant, [
      ...['sim', 'card-network', '--port', '0', '--vault-port', '0', '--json'],
    ])
    const { card_network: place, vault } = JSON.parse(await program.line(() => true)) as {
      card_network: { port: number }
      vault: { url: string; key: string; tokens: string[] }
    }
    const resolved = await fetch(`${vault.url}/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${vault.key}` },
      body: JSON.stringify({ token: vault.tokens[0] }),
    })
    const network = createNetwork(networkOptions(place.port))
    network.start()
    await until(() => network.health().connectionsUp === 1)
    const pan = new Uint8Array(await resolved.arrayBuffer())
    const outcome = await network.exchange(payment(1, { pan }), 5_000)
    expect(outcome.kind === 'answered' && outcome.response.responseCode).toBe('00')
    await network.stop()
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      received: { '0100': 1 },
      behaviours: { approve: 1 },
    })
  })

  test('central-bank settles a payment over its interface and says what happened', async () => {
    const program = startProgram(anyVariant, [
      ...['sim', 'central-bank', '--port', '0', '--secondary-port', '0'],
      ...['--long-poll-seconds', '0.2', '--settlement-limit-seconds', '5', '--json'],
    ])
    const { central_bank: place } = JSON.parse(await program.line(() => true)) as {
      central_bank: { primary_url: string; secondary_url: string; accepting_ispb: string }
    }
    const participant = createParticipant(place.primary_url, '12345678')
    await participant.send(creditTransfer('12345678', place.accepting_ispb, 100))
    const [report] = await participant.receive()
    expect(report?.xml).toContain('<TxSts>ACSC</TxSts>')
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      received: { 'pacs.008': 1 },
      operations: { settled: 1 },
      balanced: true,
      accounts: [
        { ispb: '12345678', available: '99999999900', held: '0' },
        { ispb: '99999A04', available: '100000000000000100', held: '0' },
      ],
    })
  })
})

test('chain mines what it is sent, keeps it in its file, and says at the end what was called', async () => {
  const args = ['sim', 'chain', '--port', '0', '--block-time-ms', '50', '--json']
  const file = join(temporaryDirectory(), 'chain.jsonl')
  const blocks: unknown[] = []
  for (const _start of [1, 2]) {
    const program = startProgram(anyVariant, [...args, '--file', file])
    const { chain } = JSON.parse(await program.line(() => true)) as {
      chain: { url: string; chain_id: number; token: string; directory: string }
    }
    const rpc = new JsonRpcProvider(chain.url)
    expect((await rpc.getNetwork()).chainId).toBe(BigInt(chain.chain_id))
    for (const address of [chain.token, chain.directory]) {
      expect((await rpc.getCode(address)).length).toBeGreaterThan(100)
    }
    blocks.push((await rpc.getBlock(1))?.hash)
    rpc.destroy()
    program.signal('SIGTERM')
    const { code, out } = await program.end()
    expect(code).toBe(0)
    const { calls } = JSON.parse(out.trim().split('\n').at(-1) ?? '') as { calls: object }
    expect(calls).toMatchObject({ eth_getBlockByNumber: 1, eth_getCode: 2 })
  }
  expect(blocks[0]).toMatch(/^0x/)
  expect(blocks[1]).toBe(blocks[0])
})

test('central-bank checks signatures, signs, and writes another revision where it is told to', async () => {
  const folder = temporaryDirectory()
  const [own, bank] = [issueCertificate('participant'), issueCertificate('bank')]
  const write = (name: string, pem: string) => Bun.write(join(folder, name), pem)
  await write('12345678.pem', own.cert)
  await write('bank.crt', bank.cert)
  await write('bank.key', bank.key)
  const program = startProgram(anyVariant, [
    ...['sim', 'central-bank', '--port', '0', '--secondary-port', '0', '--json'],
    '--signers',
    folder,
    '--revision',
    '5.10.1',
    '--opening-balance-cents',
    '250',
    '--sign-cert',
    join(folder, 'bank.crt'),
    '--sign-key',
    join(folder, 'bank.key'),
    ...['--long-poll-seconds', '0.2', '--from-acceptance', '--scheduled-limit-seconds', '9'],
  ])
  const { central_bank: place } = JSON.parse(await program.line(() => true)) as {
    central_bank: { primary_url: string }
  }
  const participant = createParticipant(place.primary_url, '12345678')
  await participant.send(creditTransfer('12345678', '99999A04', 100))
  const [refusal] = await participant.receive()
  expect([refusal?.type, refusal?.xml.includes('<RjctgPtyRsn>schema<')]).toEqual(['admi.002', true])
  expect(refusal?.xml).toContain('SignatureValue')
  const catalogue = await (await participant.call('/api/v1/out/catalog')).text()
  expect(catalogue).toContain('pacs.008.spi.1.13')
  const book = (await (await fetch(`${place.primary_url}/simulator/book`)).json()) as object
  expect(book).toMatchObject({ accounts: [{ ispb: '12345678', available: '250' }] })
  program.signal('SIGTERM')
  expect((await program.end()).code).toBe(0)
})

test('trilho sim says what is wrong with its options', async () => {
  for (const [args, said] of [
    [[], 'card-network'],
    [['card-network', '--port', '70000'], '65535'],
    [['card-network', '--dialect', 'klingon'], 'dialect'],
    [['card-network', '--faults', 'late=2.'], 'rates'],
    [['chain', '--faults', 'no_answer=1'], 'unavailable'],
    [['chain', '--block-time-ms', '9'], '10'],
    [['central-bank', '--port', '65536'], '65535'],
    [['central-bank', '--long-poll-seconds', '0'], 'long-poll'],
    [['central-bank', '--tls-cert', 'x.pem'], '--tls-key'],
    [['central-bank', '--sign-key', 'x.pem'], '--sign-cert'],
    [['central-bank', '--signers', temporaryDirectory()], '<ISPB>.pem'],
    [['central-bank', '--revision', '5.12'], '5.11.1'],
    [['central-bank', '--scheduled-limit-seconds', '3601'], 'scheduled-limit'],
    [['central-bank', '--opening-balance-cents', '1.5'], 'opening-balance'],
  ] as const) {
    const { code, err } = await commandHere(['sim', ...args])
    expect(code).toBe(2)
    expect(err).toContain(said)
  }
})
