import { describe, expect, test } from 'bun:test'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import {
  createTlsMaterial,
  followMaterial,
  type TlsMaterial,
  TlsMaterialError,
} from '#src/platform/tls/index.ts'
import { type IssuedPair, issueCertificate } from '../../support/pki.ts'
import { withScratch } from '../../support/second-implementation.ts'

const authority = issueCertificate('AC Teste', { authority: true })
const hosts = ['localhost', '127.0.0.1']
const issue = (name: string) => issueCertificate(name, { issuer: authority, hosts })
const [first, second, server] = [issue('first'), issue('second'), issue('server')]

/** Writes a pair where the material reads it, key first: the halfway state is part of the test. */
async function save(directory: string, pair: IssuedPair): Promise<void> {
  await Bun.write(join(directory, 'tls.key'), pair.key)
  await Bun.write(join(directory, 'tls.crt'), pair.cert)
}

function materialOf(directory: string, pair: IssuedPair, problems: Error[] = []): TlsMaterial {
  return createTlsMaterial(
    {
      certificate: { text: pair.cert, path: join(directory, 'tls.crt') },
      key: { text: pair.key, path: join(directory, 'tls.key') },
      ca: { text: authority.cert, path: undefined },
    },
    (error) => problems.push(error),
    20,
  )
}

/** An HTTPS listener that asks for client certificates and notes whose requests came in. */
async function listen(pair: IssuedPair) {
  const seen: string[] = []
  const listener = http2.createSecureServer(
    { cert: pair.cert, key: pair.key, ca: authority.cert, requestCert: true, allowHTTP1: true },
    (request, response) => {
      seen.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN))
      setTimeout(() => response.end('ok'), 2)
    },
  )
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', () => resolve()))
  const { port } = listener.address() as AddressInfo
  return { listener, seen, url: `https://localhost:${port}/` }
}

/** Eight callers in a loop until told to stop; gives how many requests were answered and lost. */
function loadOf(url: string, material: TlsMaterial) {
  const counts = { answered: 0, lost: 0 }
  let running = true
  const caller = async () => {
    while (running) {
      try {
        const response = await fetch(url, { tls: material.current() })
        if ((await response.text()) === 'ok') counts.answered++
        else counts.lost++
      } catch {
        counts.lost++
      }
    }
  }
  const callers = Array.from({ length: 8 }, caller)
  return async () => {
    running = false
    await Promise.all(callers)
    return counts
  }
}

describe('rotation under load loses no request', () => {
  test('outbound: new connections present the new client certificate', async () => {
    await withScratch(async (directory) => {
      await save(directory, first)
      const material = materialOf(directory, first)
      const { listener, seen, url } = await listen(server)
      const end = loadOf(url, material)
      await Bun.sleep(150)
      expect(new Set(seen)).toEqual(new Set(['first']))
      material.watch()
      await save(directory, second)
      await Bun.sleep(250)
      const before = seen.length
      await Bun.sleep(100)
      const counts = await end()
      expect(counts.lost).toBe(0)
      expect(counts.answered).toBe(seen.length)
      expect(new Set(seen.slice(before))).toEqual(new Set(['second']))
      material.stop()
      listener.close()
    })
  })

  test('inbound: a running listener shows the new certificate', async () => {
    await withScratch(async (directory) => {
      await save(directory, first)
      const material = materialOf(directory, first)
      const { listener, url } = await listen(first)
      followMaterial(listener, material)
      const client = createTlsMaterial({
        certificate: { text: second.cert, path: undefined },
        key: { text: second.key, path: undefined },
        ca: { text: authority.cert, path: undefined },
      })
      const shown = () => peerOf(url)
      const end = loadOf(url, client)
      await Bun.sleep(150)
      expect(await shown()).toBe('first')
      await save(directory, server)
      expect(await material.reload()).toBe(true)
      await Bun.sleep(150)
      expect(await shown()).toBe('server')
      const counts = await end()
      expect(counts.lost).toBe(0)
      expect(counts.answered).toBeGreaterThan(20)
      listener.close()
    })
  })
})

/** Whose certificate the listener shows to a new connection. */
async function peerOf(url: string): Promise<string> {
  const { connect } = await import('node:tls')
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        port: Number(new URL(url).port),
        host: '127.0.0.1',
        ca: authority.cert,
        servername: 'localhost',
      },
      () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.end()
      },
    )
    socket.on('error', reject)
  })
}

describe('material that cannot be used', () => {
  test('is refused at the start', () => {
    const pem = (text: string) => ({ text, path: undefined })
    const open = (certificate: string, key?: string) =>
      createTlsMaterial({
        certificate: pem(certificate),
        key: key === undefined ? undefined : pem(key),
        ca: undefined,
      })
    expect(() => open(first.cert, second.key)).toThrow(TlsMaterialError)
    expect(() => open(first.cert)).toThrow('needed together')
    expect(() =>
      open('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', first.key),
    ).toThrow('cannot be read')
  })

  test('later on is told once, and the old stays in use until the pair is whole', async () => {
    await withScratch(async (directory) => {
      await save(directory, first)
      const problems: Error[] = []
      const material = materialOf(directory, first, problems)
      material.watch()
      await Bun.write(join(directory, 'tls.key'), second.key)
      await Bun.sleep(150)
      expect(problems.map((problem) => problem.message)).toEqual([
        'certificate and private key do not belong together',
      ])
      expect(material.current().cert).toBe(first.cert)
      await Bun.write(join(directory, 'tls.crt'), second.cert)
      await Bun.sleep(150)
      expect(material.current()).toMatchObject({ cert: second.cert, key: second.key })
      material.stop()
    })
  })
})
