import { describe, expect, test } from 'bun:test'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer, type TLSSocket } from 'node:tls'
import { createLogger } from '#src/platform/observe/index.ts'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { createNetwork, type Network } from '../../../src/cards/networks/index.ts'
import { type CardNetwork, createCardNetwork } from '../../../src/simulators/card-network/index.ts'
import { networkOptions, payment, until } from '../../support/card-network.ts'
import { type IssuedPair, issueCertificate } from '../../support/pki.ts'
import { rotatingMaterial, rotationOf, shownOn } from '../../support/rotation.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const authority = issueCertificate('authority', { authority: true })
const stranger = issueCertificate('stranger', { authority: true })
const server = issueCertificate('network', { issuer: authority, hosts: ['127.0.0.1'] })
const elsewhere = issueCertificate('network', { issuer: authority, hosts: ['10.1.1.1'] })
const client = issueCertificate('gateway', { issuer: authority })

const pem = (text: string | undefined) =>
  text === undefined ? undefined : { text, path: undefined }

const materialOf = (ca: string, pair?: IssuedPair) =>
  createFileMaterial({ ca: pem(ca), certificate: pem(pair?.cert), key: pem(pair?.key) })

const rig = (
  tls: { cert: string; key: string; ca?: string },
  material: ReturnType<typeof createFileMaterial>,
): { simulator: CardNetwork; network: Network; lines: string[] } & AsyncDisposable => {
  const { dialect, framing } = networkOptions(1)
  const lines: string[] = []
  const simulator = createCardNetwork({ dialect, framing, tls })
  simulator.start()
  const network = createNetwork(
    networkOptions(simulator.port(), {
      tls: material,
      signOn: true,
      answerMs: 2_000,
      logger: createLogger({ level: 'warn', sink: { write: (line) => lines.push(line) } }),
    }),
  )
  network.start()
  return {
    simulator,
    network,
    lines,
    [Symbol.asyncDispose]: async () => {
      await network.stop()
      simulator.stop()
    },
  }
}

/** Stands before a network's plain port and notes whose certificate each connection shows. */
const startFront = async (port: number) => {
  const shown: string[] = []
  const open = new Set<TLSSocket>()
  const ca = authority.cert
  const front = createServer(
    { ...server, ca, requestCert: true, rejectUnauthorized: true },
    (socket) => {
      shown.push(shownOn(socket))
      open.add(socket)
      const inner = connect(port, '127.0.0.1')
      socket.pipe(inner).pipe(socket)
      inner.on('error', () => socket.destroy())
      socket.on('error', () => inner.destroy())
      socket.on('close', () => {
        open.delete(socket)
        inner.destroy()
      })
    },
  )
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', () => resolve()))
  return {
    shown,
    port: (front.address() as AddressInfo).port,
    show: ({ cert, key }: IssuedPair) => front.setSecureContext({ cert, key, ca }),
    /** Ends the oldest connection. */
    drop: () => [...open][0]?.destroy(),
    stop: () => front.close(),
  }
}

describe('with TLS', () => {
  test('requests go to a network whose certificate is trusted', async () => {
    await using pair = rig(server, materialOf(authority.cert))
    await until(() => pair.network.health().connectionsUp === 1)
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) => pair.network.exchange(payment(index + 1), 20_000)),
    )
    expect(outcomes.every(({ kind }) => kind === 'answered')).toBe(true)
  })

  test('both sides show a certificate', async () => {
    await using pair = rig({ ...server, ca: authority.cert }, materialOf(authority.cert, client))
    await until(() => pair.network.health().connectionsUp === 1)
    expect((await pair.network.exchange(payment(1), 20_000)).kind).toBe('answered')
  })

  test.each([
    ['of an unknown authority', server, materialOf(stranger.cert), 'certificate'],
    ['of another host', elsewhere, materialOf(authority.cert), 'IP: 127.0.0.1'],
    [
      'that wants a certificate and gets none',
      { ...server, ca: authority.cert },
      materialOf(authority.cert),
      'connection',
    ],
  ])('no connection comes up to a network %s', async (_, tls, material, reason) => {
    await using pair = rig(tls, material)
    await until(() => pair.lines.length >= 3)
    for (const line of pair.lines) expect(line).toContain(reason)
    expect(pair.network.health().connectionsUp).toBe(0)
    expect(pair.simulator.statistics().received).toEqual({})
  })

  test('a new connection shows the certificate that was exchanged meanwhile', async () => {
    const directory = temporaryDirectory()
    const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') }
    const write = async (pair: IssuedPair): Promise<void> => {
      await Bun.write(files.cert, pair.cert)
      await Bun.write(files.key, pair.key)
    }
    const old = issueCertificate('gateway', { issuer: stranger })
    await write(old)
    const material = createFileMaterial({
      ca: pem(authority.cert),
      certificate: { text: old.cert, path: files.cert },
      key: { text: old.key, path: files.key },
    })
    await using pair = rig({ ...server, ca: authority.cert }, material)
    await until(() => pair.lines.length >= 2)
    expect(pair.network.health().connectionsUp).toBe(0)
    await write(client)
    await material.reload()
    await until(() => pair.network.health().connectionsUp === 1)
  })

  test('certificates change under load: no request is lost, the next connection shows the new one', async () => {
    const first = { pair: issueCertificate('first', { issuer: authority }), ca: authority.cert }
    const rotating = await rotatingMaterial(first)
    const { dialect, framing } = networkOptions(1)
    const simulator = createCardNetwork({ dialect, framing })
    simulator.start()
    const front = await startFront(simulator.port())
    const network = createNetwork(
      networkOptions(front.port, { tls: rotating.material, poolSize: 2, answerMs: 2_000 }),
    )
    network.start()
    const isWhole = () => network.health().connectionsUp === 2
    await until(isWhole)
    let number = 0
    /** Requests without a pause until `changing` is over, and some more. */
    const load = async (changing: Promise<void> | void): Promise<void> => {
      let isOver = false
      const callers = Array.from({ length: 4 }, async () => {
        for (let after = 0; after < 10; after += isOver ? 1 : 0) {
          expect((await network.exchange(payment(++number), 20_000)).kind).toBe('answered')
        }
      })
      await changing
      isOver = true
      await Promise.all(callers)
    }
    const shown = ['first', 'first']
    for (const { make, shows } of rotationOf(rotating, front, authority)) {
      await load(make())
      // Open connections end as they began.
      expect(front.shown).toEqual(shown)
      front.drop()
      shown.push(shows)
      await until(() => front.shown.length === shown.length && isWhole())
      await load()
      expect(front.shown).toEqual(shown)
    }
    await network.stop()
    front.stop()
    simulator.stop()
  })
})
