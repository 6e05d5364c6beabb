import { z } from 'zod'
import {
  type Answer,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  type RequestContext,
  type Route,
  refusedValue,
  respond,
  route,
  validated,
} from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { documents, type importBody, ispb as ispbSchema, type as typeSchema } from './documents.ts'
import {
  type CertificateRecord,
  daysUntilExpiry,
  nameText,
  parseNameText,
  statusAt,
} from './domain.ts'
import { certificateErrors, MasterKeyMissingError } from './errors.ts'
import { keyPem } from './folder-store.ts'
import { fullChain, secretManifest } from './manifest.ts'
import type { CertificateService, ImportRequest, Refused } from './service.ts'

export type CertificateRoutesDeps = {
  readonly service: CertificateService
  readonly logger: Logger
  readonly now: () => Date
}

/** The public view of a certificate: everything except key material. */
export const viewOf = (record: CertificateRecord, now: Date) => ({
  ispb: record.ispb,
  type: record.type,
  version: record.version,
  subject: record.subject,
  issuer: record.issuer,
  serial: record.serial,
  not_before: record.notBefore.toISOString(),
  not_after: record.notAfter.toISOString(),
  days_until_expiry: daysUntilExpiry(record, now),
  status: statusAt(record, now),
  fingerprint_sha256: record.fingerprint,
  has_private_key: record.hasKey,
  chain_length: record.chain.length,
})

const failure = (outcome: Refused): ApiError => {
  switch (outcome.kind) {
    case 'wrong_password':
      return new ApiError(certificateErrors.certificate_wrong_password, `${outcome.message}.`)
    case 'unreadable':
      return new ApiError(certificateErrors.certificate_unreadable, `${outcome.message}.`)
    case 'unusable':
      return new ApiError(
        outcome.problems.every(({ rule }) => rule === 'validity')
          ? httpErrors.certificate_expired
          : certificateErrors.certificate_unusable,
        outcome.problems.map(({ message }) => message).join('; '),
        { errors: outcome.problems.map((problem) => ({ pointer: '/content', ...problem })) },
      )
    case 'exists':
      return new ApiError(
        certificateErrors.certificate_exists,
        `${outcome.name}, or the same certificate under another version, is stored already.`,
      )
    case 'read_only':
      return readOnly()
    case 'busy':
      return new ApiError(httpErrors.unavailable, 'Other certificate files are being read.')
  }
}

const readOnly = (): ApiError =>
  new ApiError(
    certificateErrors.certificate_store_read_only,
    'Certificates are read from TRILHO_CERTS_DIR.',
  )

const importOf = (body: z.output<typeof importBody>): ImportRequest => {
  const { password, format, content, ...name } = body
  const request = { ispb: name.ispb, type: name.type, version: name.version }
  if (format === 'pem') return { ...request, source: { format, content, password } }
  const base64 = content.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw refusedValue([{ pointer: '/content', rule: 'base64', message: 'must be base64' }])
  }
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  return { ...request, source: { format, content: bytes, password: password ?? '' } }
}

type Service = CertificateRoutesDeps['service']

/** The endpoints of certificates; all need the scope `ops:admin`. */
export const certificateRoutes = (deps: CertificateRoutesDeps): readonly Route[] => {
  const { service, logger, now } = deps
  const keyOf = async ({ keyId: by }: Caller, record: CertificateRecord, use: string) => {
    const key = await service.readKey(record).catch(sealedKeyError)
    if (key === undefined) {
      throw new ApiError(
        certificateErrors.certificate_key_missing,
        `${nameText(record)} is stored without its private key.`,
      )
    }
    logger.warn({ certificate: nameText(record), key_id: by, use }, 'private key handed out')
    return key
  }

  return [
    route(documents.list, async ({ query }) => {
      const records = (await service.list()).filter(
        (record) =>
          (query.ispb ?? record.ispb) === record.ispb &&
          (query.type ?? record.type) === record.type,
      )
      return Response.json({ certificates: records.map((record) => viewOf(record, now())) })
    }),
    route(documents.import, async ({ body, caller }) => {
      const request = importOf(body)
      const actor = actorOf(caller)
      const { idempotencyKey: key } = caller
      const answer = (record: CertificateRecord): Answer => ({
        status: 201,
        body: JSON.stringify(viewOf(record, now())),
      })
      if (key !== undefined) {
        const answered = await service
          .importOnce(request, actor, { key, answer })
          .catch(sealedKeyError)
        if ('ok' in answered) throw failure(answered)
        if (!answered.isReplay)
          logger.info({ ispb: request.ispb, type: request.type }, 'certificate imported')
        return respond(answered)
      }
      const outcome = await service.importCertificate(request, actor).catch(sealedKeyError)
      if (!outcome.ok) throw failure(outcome)
      logger.info({ certificate: nameText(outcome.record) }, 'certificate imported')
      return respond({ ...answer(outcome.record), isReplay: false })
    }),
    route(documents.find, async ({ c }) => Response.json(viewOf(await findOne(service, c), now()))),
    route(documents.export, async ({ query, caller, c }) => {
      const record = await findOne(service, c)
      const withKey = query.private_key === 'true'
      const key = withKey ? keyPem(await keyOf(caller, record, 'export')) : ''
      return new Response(fullChain(record) + key, {
        headers: { 'Content-Type': 'application/x-pem-file' },
      })
    }),
    route(documents.manifest, async ({ query: { namespace }, caller, c }) => {
      const record = await findOne(service, c)
      const manifest = secretManifest(record, await keyOf(caller, record, 'manifest'), namespace)
      return new Response(manifest, { headers: { 'Content-Type': 'application/yaml' } })
    }),
    route(documents.remove, async ({ caller, c }) => {
      const record = await findOne(service, c, removedVersionOf)
      const removed = await service.remove(record, actorOf(caller))
      if (removed === 'read_only') throw readOnly()
      logger.warn({ certificate: nameText(record) }, 'certificate removed')
      return new Response(null, { status: 204 })
    }),
  ]
}

const nameSchema = z.object({ ispb: ispbSchema, type: typeSchema })

const findOne = async (
  service: Service,
  c: RequestContext,
  readVersion: (text: string) => number | 'latest' = versionOf,
): Promise<CertificateRecord> => {
  const { ispb, type } = validated(nameSchema, c.req.param(), undefined)
  const record = await service.find(ispb, type, readVersion(c.req.param('version') ?? ''))
  if (record === undefined) throw new ApiError(httpErrors.not_found, 'No such certificate.')
  return record
}

const numberOf = (text: string): number | undefined =>
  parseNameText(`00000000.PIA.${text}`)?.version

const versionOf = (text: string): number | 'latest' =>
  text === 'latest' ? text : (numberOf(text) ?? wrongVersion('a number or latest'))

/** A removal names a number: repeated, that of the latest would remove another. */
const removedVersionOf = (text: string): number => numberOf(text) ?? wrongVersion('a number')

function wrongVersion(form: string): never {
  throw new ApiError(httpErrors.validation_failed, `version must be ${form}.`, {
    errors: [{ pointer: 'version', rule: 'format', message: `must be ${form}` }],
  })
}

/** Without a master key, we can neither seal nor open private keys. */
function sealedKeyError(error: unknown): never {
  if (error instanceof MasterKeyMissingError) {
    throw new ApiError(
      httpErrors.not_configured,
      'Private keys in the database need the setting TRILHO_MASTER_KEY.',
      { details: { settings: ['TRILHO_MASTER_KEY'] } },
    )
  }
  throw error
}
