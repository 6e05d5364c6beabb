import { afterEach, describe, expect, test } from 'bun:test'
import { sign, verify, X509Certificate } from 'node:crypto'
import { inSpan } from '#src/platform/observe/index.ts'
import { createServiceSigner, SigningError } from '../../../../src/spi/out/signing/index.ts'
import {
  answerBytesMax,
  type ServiceSignerOptions,
} from '../../../../src/spi/out/signing/service-signer.ts'
import { collected } from '../../../support/collector.ts'
import { type IssuedPair, issueCertificate } from '../../../support/pki.ts'
import {
  callUnderChanges,
  rotatingMaterial,
  rotationOf,
  startPeer,
} from '../../../support/rotation.ts'

const authority = issueCertificate('AC Teste', { authority: true })
const serverPair = issueCertificate('assinador', {
  issuer: authority,
  hosts: ['127.0.0.1', 'localhost'],
})
const clientPair = issueCertificate('trilho', { issuer: authority })
const signingPair = issueCertificate('99999010', { issuer: authority })
const content = new TextEncoder().encode('<ds:SignedInfo/>')

type Handler = (path: string, body: unknown) => Response | Promise<Response>
const servers: Bun.Server<undefined>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true)
})

/** A signature service on a real HTTPS listener that asks for our client certificate. */
const serve = (handle: Handler): { readonly url: string; readonly calls: string[] } => {
  const calls: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: {
      cert: serverPair.cert,
      key: serverPair.key,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    },
    async fetch(request) {
      const path = new URL(request.url).pathname
      calls.push(path)
      return handle(path, request.method === 'POST' ? await request.json() : undefined)
    },
  })
  servers.push(server)
  return { url: `https://127.0.0.1:${server.port}/v1`, calls }
}

const signatureOf = (body: string): string => {
  const { content: asked } = JSON.parse(body) as { readonly content: string }
  return sign('sha256', Buffer.from(asked, 'base64'), signingPair.key).toString('base64')
}

/** Answers by the contract, signing with the given pair. */
const honest =
  (pair: () => IssuedPair = () => signingPair): Handler =>
  (path, body) => {
    if (path === '/v1/certificate') return Response.json({ certificate: pair().cert })
    const asked = body as { algorithm: string; serial: string; content: string }
    if (asked.algorithm !== 'RSA-SHA256') return new Response('', { status: 400 })
    if (asked.serial !== pair().serial) return new Response('', { status: 409 })
    const signature = sign('sha256', Buffer.from(asked.content, 'base64'), pair().key)
    return Response.json({ signature: signature.toString('base64') })
  }

const signer = (url: string, options: Partial<ServiceSignerOptions> = {}) =>
  createServiceSigner({
    url,
    tls: () => ({ cert: clientPair.cert, key: clientPair.key, ca: authority.cert }),
    timeoutMs: 20_000,
    attemptsMax: 3,
    circuitFailuresMax: 5,
    circuitOpenMs: 60_000,
    backoffMs: 1,
    ...options,
  })

const signOnce = async (from: ReturnType<typeof signer>): Promise<Uint8Array> =>
  (await from.key()).sign(content)

describe('the contract', () => {
  test('reads the certificate once and signs over mutual TLS', async () => {
    const { url, calls } = serve(honest())
    const ours = signer(url)
    const key = await ours.key()
    expect(key.identity.serial).toBe(signingPair.serial)
    const { publicKey } = new X509Certificate(signingPair.cert)
    expect(verify('sha256', content, publicKey, await key.sign(content))).toBe(true)
    await Promise.all([signOnce(ours), signOnce(ours)])
    expect(calls.filter((path) => path.endsWith('/certificate')).length).toBe(1)
  })

  test('without our client certificate the service is not reached', async () => {
    const { url, calls } = serve(honest())
    const bare = signer(url, { tls: () => ({ ca: authority.cert }), attemptsMax: 1 })
    await expect(signOnce(bare)).rejects.toThrow('gave no answer')
    expect(calls).toEqual([])
  })

  test('a service whose certificate is not from our authorities gets no content', async () => {
    const { url, calls } = serve(honest())
    const stranger = issueCertificate('AC Estranha', { authority: true })
    const ours = signer(url, {
      tls: () => ({ cert: clientPair.cert, key: clientPair.key, ca: stranger.cert }),
      attemptsMax: 1,
    })
    await expect(signOnce(ours)).rejects.toThrow('gave no answer')
    expect(calls).toEqual([])
  })

  test('every call is a span of the trace that it belongs to', async () => {
    const { url } = serve(honest())
    const ours = signer(url)
    const { spans } = await collected(async () => {
      await inSpan('sign', {}, () => signOnce(ours))
    })
    const sign = spans.find(({ name }) => name === 'sign')
    const attributes = { 'server.address': '127.0.0.1', 'http.response.status_code': 200 }
    const parentSpanId = sign?.spanId ?? 'none'
    expect(spans.filter(({ name }) => name !== 'sign')).toMatchObject([
      { name: 'GET', kind: 3, parentSpanId, attributes },
      { name: 'POST', kind: 3, parentSpanId, attributes },
    ])
  })

  test('TLS certificates change under load: every message is signed, new calls show the new certificate', async () => {
    const first = { pair: issueCertificate('first', { issuer: authority }), ca: authority.cert }
    const rotating = await rotatingMaterial(first)
    const peer = await startPeer(serverPair, authority.cert, (path, body) =>
      path.endsWith('/certificate')
        ? { status: 200, body: JSON.stringify({ certificate: signingPair.cert }) }
        : { status: 200, body: JSON.stringify({ signature: signatureOf(body) }) },
    )
    const ours = signer(peer.url, { tls: rotating.material.current, attemptsMax: 1 })
    const signed = async (): Promise<void> => {
      expect((await signOnce(ours)).length).toBe(256)
    }
    await callUnderChanges(peer.shown, signed, rotationOf(rotating, peer, authority))
    peer.stop()
  }, 60_000)

  test('after a rotation the message is not signed, and the next one names the new certificate', async () => {
    let pair = signingPair
    const { url } = serve(honest(() => pair))
    const ours = signer(url)
    await signOnce(ours)
    pair = issueCertificate('99999010', { issuer: authority })
    const stale = await ours.key()
    await expect(stale.sign(content)).rejects.toThrow(
      new SigningError('the certificate of the signature service changed'),
    )
    expect((await ours.key()).identity.serial).toBe(pair.serial)
    await signOnce(ours)
  })
})

describe('a service that misbehaves', () => {
  const certificate = () => Response.json({ certificate: signingPair.cert })
  const answering =
    (answer: () => Response | Promise<Response>): Handler =>
    (path) =>
      path === '/v1/certificate' ? certificate() : answer()

  test('a signature that does not fit the certificate is not used', async () => {
    const forged = sign('sha256', Buffer.from('other'), signingPair.key).toString('base64')
    const { url } = serve(answering(() => Response.json({ signature: forged })))
    await expect(signOnce(signer(url))).rejects.toThrow(
      new SigningError('the signature does not match the certificate'),
    )
  })

  test('another form, no JSON: refused without a second attempt', async () => {
    for (const answer of [
      () => Response.json({ sig: 'AAAA' }),
      () => new Response('<html>'),
      () => new Response('', { status: 403 }),
      () => new Response('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    ]) {
      const { url, calls } = serve(answering(answer))
      await expect(signOnce(signer(url))).rejects.toThrow(SigningError)
      expect(calls.length).toBe(2)
    }
  })

  /** An answer of so many bytes, by blanks behind it; with its length or in chunks without one. */
  const padded = (answer: unknown, bytes: number, isChunked: boolean): Response => {
    const text = JSON.stringify(answer)
    const whole = Buffer.from(text + ' '.repeat(bytes - text.length))
    if (!isChunked) return new Response(whole)
    const body = new ReadableStream({
      async start(controller) {
        for (let at = 0; at < bytes; at += 10_000) {
          controller.enqueue(whole.subarray(at, at + 10_000))
          await Bun.sleep(1)
        }
        controller.close()
      },
    })
    return new Response(body)
  }

  for (const isChunked of [false, true]) {
    test(`65536 bytes are read, one more is not: ${isChunked ? 'chunked' : 'with a length'}`, async () => {
      const signature = sign('sha256', content, signingPair.key).toString('base64')
      const sized = (bytes: number) =>
        serve(answering(() => padded({ signature }, bytes, isChunked))).url
      expect((await signOnce(signer(sized(answerBytesMax)))).length).toBe(256)
      const refused = signOnce(signer(sized(answerBytesMax + 1)))
      expect(await refused.catch((error) => error.message)).toBe('the answer is over 65536 bytes')
    })
  }

  test('an answer without an end is left after the limit, not after the time', async () => {
    let sentBytes = 0
    const left = Promise.withResolvers<void>()
    const endless = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(1)
            sentBytes += 16_384
            controller.enqueue(Buffer.alloc(16_384, 0x20))
          },
          cancel: () => left.resolve(),
        }),
      )
    const refused = signOnce(signer(serve(answering(endless)).url, { timeoutMs: 60_000 }))
    expect(await refused.catch((error) => error.message)).toContain('over 65536 bytes')
    await left.promise
    // What sockets hold comes on top.
    expect(sentBytes).toBeLessThan(16 * 1024 * 1024)
  })

  test('a compressed answer is not unpacked', async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(1_000_000, 0x20))
    const { url } = serve(
      answering(() => new Response(bomb, { headers: { 'content-encoding': 'gzip' } })),
    )
    expect(await signOnce(signer(url)).catch((error) => error.message)).toBe(
      'the answer is not JSON',
    )
  })

  test('a passing fault is repeated', async () => {
    let left = 2
    const { url, calls } = serve((path, body) =>
      left-- > 0 ? new Response('', { status: 503 }) : honest()(path, body),
    )
    await signOnce(signer(url))
    expect(calls.length).toBe(4)
  })

  test('no answer in time gives no signature', async () => {
    const { url } = serve(
      answering(async () => {
        await Bun.sleep(500)
        return new Response('')
      }),
    )
    const slow = signer(url, { timeoutMs: 60, attemptsMax: 2 })
    await Promise.resolve(slow.key()).catch(() => {})
    await expect(signOnce(slow)).rejects.toThrow(SigningError)
  })

  test('after five failures in a row the circuit opens and nothing more is asked', async () => {
    const { url, calls } = serve(() => new Response('', { status: 500 }))
    const ours = signer(url, { attemptsMax: 5 })
    expect(await signOnce(ours).catch((error) => error.message)).toContain('HTTP 500')
    expect(calls.length).toBe(5)
    expect(await signOnce(ours).catch((error) => error.message)).toContain('circuit open')
    expect(calls.length).toBe(5)
  })
})
