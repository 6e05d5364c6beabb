import { messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import {
  ApiError,
  type RequestContext,
  type Route,
  route,
  routesWithout,
} from '#src/platform/http/index.ts'
import type { Check, Feature } from '#src/platform/lifecycle/index.ts'
import { type InterfaceClient, InterfaceError } from '../../link/index.ts'
import type { Channel } from '../../messages/index.ts'
import { wantsXml, xmlTypes } from '../message-body.ts'
import { catalogueDocument } from './documents.ts'
import { catalogueErrors } from './errors.ts'

/** How long we repeat an answer without asking again. */
export const keptMs = 60_000

type Direction = 'in' | 'out'
type Kept = { readonly atMs: number; readonly answer: Promise<Uint8Array> }

export type CatalogueDeps = {
  /** Undefined: the endpoints answer 503 and name the missing setting. */
  readonly client: InterfaceClient | undefined
  readonly missing: readonly string[]
  /** The monotonic clock; tests set it. */
  readonly tickMs?: () => number
}

/** Passes on the central bank's catalogues of messages, and checks its interface for `trilho doctor`. */
export const createCatalogue = (deps: CatalogueDeps): Feature => {
  const { client, missing, tickMs = () => performance.now() } = deps
  const common = { name: 'catalogue', errors: catalogueErrors }
  if (client === undefined) return { ...common, routes: routesWithout(missing, routesOf) }
  const kept = new Map<Direction, Kept>()
  const catalogue: Ask = (direction) => {
    const known = kept.get(direction)
    if (known !== undefined && tickMs() - known.atMs < keptMs) return known.answer
    const answer = client.catalogue(direction)
    kept.set(direction, { atMs: tickMs(), answer })
    // We do not keep a failure: the next request asks again.
    answer.catch(() => kept.delete(direction))
    return answer
  }
  return {
    ...common,
    routes: routesOf(catalogue),
    checks: () => check(client),
    stop: () => client.close(),
  }
}

type Ask = (direction: Direction) => Promise<Uint8Array>

const routesOf = (catalogue: Ask): readonly Route[] =>
  (['in', 'out'] as const).map((direction) =>
    route(catalogueDocument(direction), async ({ c }) =>
      answerOf(c, await catalogue(direction).catch(unavailable)),
    ),
  )

const unavailable = (error: unknown): never => {
  if (!(error instanceof InterfaceError)) throw error
  throw new ApiError(
    catalogueErrors.message_interface_unavailable,
    'The message interface gave no catalogue.',
    { cause: error, details: error.status === undefined ? {} : { interface_status: error.status } },
  )
}

const answerOf = (c: RequestContext, xml: Uint8Array): Response => {
  const headers = { Vary: 'Accept' }
  return wantsXml(c)
    ? new Response(new Uint8Array(xml), { headers: { ...headers, 'Content-Type': xmlTypes[0] } })
    : Response.json({ messages: namesOf(xml).map(entryOf) }, { headers })
}

const scanner = createXmlScanner({ vocabulary: messageVocabulary })

/** `<Catalog><Message>pacs.008.spi.1.16</Message>…</Catalog>` */
const namesOf = (xml: Uint8Array): readonly string[] => {
  try {
    const document = scanner.scan(xml)
    const names: string[] = []
    let node = document.firstChild(document.root)
    while (node >= 0) {
      names.push(document.textOf(node).trim())
      node = document.nextSibling(node, document.root)
    }
    return names
  } catch (error) {
    return unavailable(new InterfaceError('the catalogue cannot be read', { cause: error }))
  }
}

const entryOf = (name: string): { name: string; type: string; version: string } => {
  const [, type = '', version = ''] = /^([a-z]{4}\.\d{3})\.spi\.(\d+\.\d+)$/.exec(name) ?? []
  return { name, type, version }
}

/** Checks each channel separately: the gateway works with one, and nobody would know that it is the last. */
const check = (client: InterfaceClient): Promise<readonly Check[]> =>
  Promise.all(client.channels.map((channel) => checkChannel(client, channel)))

const checkChannel = async (client: InterfaceClient, channel: Channel): Promise<Check> => {
  const name = `message interface, ${channel}`
  try {
    const names = namesOf(await client.catalogue('in', channel))
    return { name, status: 'ok', detail: `takes ${names.length} message versions` }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: error instanceof Error ? error.message : String(error),
      fix: `Check SPI_${channel}_URL, CERT_PATH, KEY_PATH and CA_PATH, and the way to the RSFN.`,
    }
  }
}
