import { describe, expect, test } from 'bun:test'
import { rename } from 'node:fs/promises'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import {
  createFileMaterial,
  createStoreMaterial,
  followMaterial,
  type KeyMaterial,
  KeyMaterialError,
} from '#src/platform/security/index.ts'
import { type IssuedPair, issueCertificate } from '../../../support/pki.ts'
import { withScratch } from '../../../support/second-implementation.ts'
import { until } from '../../../support/until.ts'

const authority = issueCertificate('AC Teste', { authority: true })
const hosts = ['localhost', '127.0.0.1']
const issue = (name: string) => issueCertificate(name, { issuer: authority, hosts })
const [first, second, server] = [issue('first'), issue('second'), issue('server')]

/** In one step, as operators do it: whoever reads at any time finds a whole file. */
const put = async (path: string, text: string): Promise<void> => {
  await Bun.write(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

/** Writes a pair where the material reads it, key first: the halfway state is part of the test. */
const save = async (directory: string, pair: IssuedPair): Promise<void> => {
  await put(join(directory, 'tls.key'), pair.key)
  await put(join(directory, 'tls.crt'), pair.cert)
}

const materialOf = (directory: string, pair: IssuedPair, problems: Error[] = []): KeyMaterial =>
  createFileMaterial(
    {
      certificate: { text: pair.cert, path: join(directory, 'tls.crt') },
      key: { text: pair.key, path: join(directory, 'tls.key') },
      ca: { text: authority.cert, path: undefined },
    },
    (error) => problems.push(error),
    { pollMs: 20 },
  )

/** An HTTPS listener that asks for client certificates and notes whose requests came in. */
const listen = async (pair: IssuedPair) => {
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

const callersMax = 8

/** Eight callers in a loop until told to stop, and how many of their requests were answered and lost. */
const loadOf = (url: string, material: KeyMaterial) => {
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
  const callers = Array.from({ length: callersMax }, caller)
  return {
    counts,
    end: async (): Promise<void> => {
      running = false
      await Promise.all(callers)
    },
  }
}

describe('rotation under load loses no request', () => {
  test('outbound: new connections present the new client certificate', async () => {
    await withScratch(async (directory) => {
      await save(directory, first)
      const material = materialOf(directory, first)
      const { listener, seen, url } = await listen(server)
      const { counts, end } = loadOf(url, material)
      await until(() => seen.length > 20)
      expect(new Set(seen)).toEqual(new Set(['first']))
      material.watch()
      await save(directory, second)
      await until(() => material.current().cert === second.cert)
      // Each caller may have one on its way that shows the old one.
      const before = seen.length + callersMax
      await until(() => seen.length > before + 20)
      await end()
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
      const client = createFileMaterial({
        certificate: { text: second.cert, path: undefined },
        key: { text: second.key, path: undefined },
        ca: { text: authority.cert, path: undefined },
      })
      const shown = () => peerOf(url)
      const { counts, end } = loadOf(url, client)
      await until(() => counts.answered > 20)
      expect(await shown()).toBe('first')
      await save(directory, server)
      expect(await material.reload()).toBe(true)
      const before = counts.answered
      await until(() => counts.answered > before + 20)
      expect(await shown()).toBe('server')
      await end()
      expect(counts.lost).toBe(0)
      listener.close()
    })
  })
})

/** Whose certificate the listener shows to a new connection. */
const peerOf = async (url: string): Promise<string> => {
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
      createFileMaterial({
        certificate: pem(certificate),
        key: key === undefined ? undefined : pem(key),
        ca: undefined,
      })
    expect(() => open(first.cert, second.key)).toThrow(KeyMaterialError)
    expect(() => open(first.cert)).toThrow('needed together')
    expect(() =>
      open('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', first.key),
    ).toThrow('cannot be read')
  })

  test('a changed bundle with an authority that cannot be read leaves the old one in use', async () => {
    await withScratch(async (directory) => {
      const path = join(directory, 'ca.pem')
      const ca = { text: authority.cert, path }
      const material = createFileMaterial({ certificate: undefined, key: undefined, ca })
      const broken = authority.cert.slice(0, authority.cert.length / 2)
      for (const content of ['', 'no certificate', broken, first.cert + broken]) {
        await put(path, content)
        await expect(material.reload()).rejects.toThrow(KeyMaterialError)
        expect(material.current().ca).toBe(authority.cert)
      }
      await put(path, first.cert + second.cert)
      expect(await material.reload()).toBe(true)
      expect(material.current().ca).toBe(first.cert + second.cert)
    })
  })

  test('later on is told once, and the old stays in use until the pair is whole', async () => {
    await withScratch(async (directory) => {
      await save(directory, first)
      const problems: Error[] = []
      const material = materialOf(directory, first, problems)
      material.watch()
      await put(join(directory, 'tls.key'), second.key)
      await until(() => problems.length > 0)
      // Several looks later it has been told no second time.
      await Bun.sleep(150)
      expect(problems.map((problem) => problem.message)).toEqual([
        'certificate and private key do not belong together',
      ])
      expect(material.current().cert).toBe(first.cert)
      await put(join(directory, 'tls.crt'), second.cert)
      await until(() => material.current().cert === second.cert)
      expect(material.current()).toMatchObject({ cert: second.cert, key: second.key })
      material.stop()
    })
  })
})

test('one who cannot take new material keeps it from nobody else, and gets it at the next look', async () => {
  let stored: IssuedPair = first
  const material = createStoreMaterial(async () => stored, undefined)
  await material.reload()
  const taken: string[] = []
  let isFull = true
  material.onChange(() => {
    if (isFull) throw new Error('no descriptor is free')
    taken.push('the first')
  })
  material.onChange(({ cert }) => taken.push(cert === second.cert ? 'the second' : 'the old'))
  stored = second
  await expect(material.reload()).rejects.toThrow('no descriptor is free')
  expect(taken).toEqual(['the second'])
  expect(await material.reload()).toBe(false)
  isFull = false
  await material.reload()
  await material.reload()
  expect(taken).toEqual(['the second', 'the first'])
})

describe('material from the certificate store', () => {
  const ca = { text: authority.cert, path: undefined }

  test('is the authorities alone until the store answers, then the latest pair', async () => {
    let stored: IssuedPair = first
    const changes: (string | undefined)[] = []
    const material = createStoreMaterial(async () => stored, ca, undefined, { pollMs: 20 })
    material.onChange(({ cert }) => changes.push(cert))
    expect(material.current()).toEqual({ ca: authority.cert })
    material.watch()
    await until(() => changes.length === 1)
    expect(material.current()).toEqual({ cert: first.cert, key: first.key, ca: authority.cert })
    stored = second
    await until(() => changes.length === 2)
    expect(material.current().cert).toBe(second.cert)
    material.stop()
  })

  test('stays what it was while the store is away or has no pair that fits, and says so', async () => {
    let read = async (): Promise<{ readonly cert: string; readonly key: string }> => first
    const problems: string[] = []
    const told = (error: Error) => problems.push(error.message)
    const material = createStoreMaterial(() => read(), undefined, told, { pollMs: 20 })
    material.watch()
    await until(() => material.current().cert === first.cert)
    read = () => Promise.reject(new Error('the store is away'))
    await until(() => problems.includes('the store is away'))
    read = async () => ({ cert: second.cert, key: first.key })
    await until(() => problems.includes('certificate and private key do not belong together'))
    expect(material.current()).toEqual({ cert: first.cert, key: first.key })
    material.stop()
    await Bun.sleep(60)
    problems.length = 0
    await Bun.sleep(60)
    expect(problems).toEqual([])
  })
})
