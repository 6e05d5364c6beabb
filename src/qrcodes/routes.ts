import { CodecError } from '#codecs/bytes'
import {
  ApiError,
  mediaType,
  namedType,
  type RequestContext,
  type Route,
  readJson,
  readText,
  refusedValue,
  route,
} from '#src/platform/http/index.ts'
import { documents, parseBody } from './documents.ts'
import { qrcodeErrors } from './errors.ts'
import { drawPng, drawSvg, type PictureKind, pictureTypes } from './picture.ts'
import type { Resolver } from './resolve.ts'
import {
  readCode,
  viewOf,
  type WrittenCode,
  writeComposite,
  writeDynamic,
  writeStatic,
} from './service.ts'

const jsonType = 'application/json'
const text = 'text/plain'

/** The request's field behind a tag path of the code. */
const fieldOf: Readonly<Record<string, string>> = {
  '26': '/info',
  '26.01': '/key',
  '26.02': '/info',
  '26.25': '/url',
  '52': '/merchant_category_code',
  '54': '/amount',
  '59': '/name',
  '60': '/city',
  '61': '/postal_code',
  '62.05': '/txid',
  '80.25': '/recurrence_url',
}

/**
 * Reads the location in a code and verifies what is there.
 */
const resolveRoute = (resolve: Resolver): Route =>
  route(documents.resolve, async ({ body, caller }) => {
    const found = await resolve({
      payload: body.payload.trim(),
      of: body.of,
      municipality: body.cod_mun,
      payOn: body.dpp,
      account: caller.owner,
    }).catch((error: unknown) => {
      throw unreadable(error)
    })
    return Response.json({ ...found, code: viewOf(found.code) })
  })

export const qrcodeRoutes = (resolve: Resolver): readonly Route[] => [
  resolveRoute(resolve),
  route(documents.static, async ({ body, c }) => written(c, body, writeStatic)),
  route(documents.dynamic, async ({ body, c }) => written(c, body, writeDynamic)),
  route(documents.composite, async ({ body, c }) => written(c, body, writeComposite)),
  route(documents.parse, async ({ c }) => {
    const isText = mediaType(c.req.raw.headers.get('content-type') ?? '') === text
    const { payload, image } = isText
      ? { payload: await readText(c), image: undefined }
      : await readJson(c, parseBody)
    const code = payload.trim()
    return answer(c, read(code), code, image)
  }),
]

const read = (payload: string) => {
  try {
    return readCode(payload)
  } catch (error) {
    throw unreadable(error)
  }
}

/** What is written of a request, or why it cannot be. */
const written = <T extends { readonly image?: PictureKind | undefined }>(
  c: RequestContext,
  request: T,
  write: (request: T) => WrittenCode,
): Promise<Response> => {
  const code = writeOrRefuse(write, request)
  return answer(c, code, code.payload, request.image)
}

const writeOrRefuse = <T>(write: (request: T) => WrittenCode, request: T): WrittenCode => {
  try {
    return write(request)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    const path = String(error.context['path'] ?? '26.01')
    const pointer = fieldOf[path] ?? ''
    throw refusedValue([{ pointer, rule: error.code, message: error.message }])
  }
}

const unreadable = (error: unknown): unknown => {
  if (!(error instanceof CodecError)) return error
  const pointer = String(error.context['path'] ?? '')
  const place = `${pointer === '' ? 'payload' : `tag ${pointer}`}, offset ${error.offset}`
  return new ApiError(qrcodeErrors.brcode_invalid, `${place}: ${error.message}`, {
    errors: [{ pointer, rule: error.code, message: error.message }],
    details: { offset: error.offset },
  })
}

/** What is told of a code, with its picture where that is wanted. */
const answer = async (
  c: RequestContext,
  told: object,
  payload: string,
  image: PictureKind | undefined,
): Promise<Response> => {
  const alone = wantedPicture(c.req.raw.headers.get('accept') ?? '')
  if (alone !== undefined) return picture(alone, payload)
  if (image === undefined) return Response.json(told)
  const data =
    image === 'svg'
      ? await drawSvg(payload)
      : Buffer.from(await drawPng(payload)).toString('base64')
  return Response.json({ ...told, image: { media_type: pictureTypes[image], data } })
}

const picture = async (kind: PictureKind, payload: string): Promise<Response> => {
  const headers = { 'Content-Type': pictureTypes[kind] }
  return kind === 'svg'
    ? new Response(await drawSvg(payload), { headers })
    : new Response(await drawPng(payload), { headers })
}

const answerTypes = [jsonType, pictureTypes.png, pictureTypes.svg] as const

/** Whether a picture is wanted more than JSON; wildcards mean JSON. */
const wantedPicture = (accept: string): PictureKind | undefined => {
  const type = namedType(accept, answerTypes)
  if (type === undefined || type === jsonType) return undefined
  return type === pictureTypes.png ? 'png' : 'svg'
}
