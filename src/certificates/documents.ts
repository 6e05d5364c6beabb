import { z } from 'zod'
import { ispbForm } from '#codecs/taxpayer'
import { httpErrors, type RouteContract, text } from '#src/platform/http/index.ts'
import { certificateTypes, versionMax } from './domain.ts'
import { certificateErrors } from './errors.ts'
import { examplePem } from './example.ts'
import { namespaceForm } from './manifest.ts'

export const ispb = z.string().regex(ispbForm, 'must be 8 digits or capital letters')
export const type = z.enum(certificateTypes)
const version = z.int().min(1).max(versionMax)

/** 256 KiB in base64, and room for the rest. */
const importBodyBytesMax = 512 * 1024

export const importBody = z
  .strictObject({
    ispb,
    type,
    version: version.optional(),
    format: z.enum(['pkcs12', 'pem']),
    content: text(importBodyBytesMax, { isMultiline: true }),
    password: text(1024, { charactersMin: 0 }).optional(),
  })
  .describe(
    '`content`: the PKCS#12 file in base64, or PEM text with certificate, chain and key; `password` opens the file, or the key of the PEM',
  )

const certificateView = z
  .object({
    ispb,
    type,
    version,
    subject: z.string(),
    issuer: z.string(),
    serial: z.string(),
    not_before: z.string(),
    not_after: z.string(),
    days_until_expiry: z.int(),
    status: z.enum(['active', 'expired', 'not_yet_valid']),
    fingerprint_sha256: z.string(),
    has_private_key: z.boolean(),
    chain_length: z.int(),
  })
  .meta({ id: 'Certificate' })

const listQuery = z.strictObject({ ispb: ispb.optional(), type: type.optional() })
const manifestQuery = z.strictObject({
  namespace: z.string().regex(namespaceForm, 'is not a Kubernetes name').optional(),
})
const exportQuery = z.strictObject({ private_key: z.enum(['true', 'false']).optional() })

const ok = (description: string, schema: z.ZodType) => ({ description, schema })
const params = z.object({ ispb, type, version: z.union([version, z.literal('latest')]) })
const removedParams = z.object({ ispb, type, version })

/** A certificate of another institution, so it comes without its key. */
const exampleImport = { ispb: '99999A04', type: 'QRC', format: 'pem', content: examplePem }

const stored = {
  ispb: 'listCertificates#/certificates/0/ispb',
  type: 'listCertificates#/certificates/0/type',
  version: 'listCertificates#/certificates/0/version',
}

const guarded = { scope: 'ops:admin', ofInstitution: true } as const
const one = { ...guarded, params, exampleFrom: stored } as const

export const documents = {
  list: {
    ...guarded,
    at: 'GET /v1/certificates',
    operation: 'listCertificates',
    summary: 'Lists certificates',
    query: listQuery,
    responses: { 200: ok('Certificates', z.object({ certificates: z.array(certificateView) })) },
  },
  find: {
    ...one,
    at: 'GET /v1/certificates/{ispb}/{type}/{version}',
    operation: 'getCertificate',
    summary: 'One certificate',
    responses: { 200: ok('The certificate', certificateView) },
  },
  import: {
    ...guarded,
    at: 'POST /v1/certificates',
    bodyBytesMax: importBodyBytesMax,
    operation: 'importCertificate',
    summary: 'Imports a certificate from PKCS#12 or PEM',
    body: { 'application/json': importBody },
    bodyExamples: { pem: exampleImport },
    idempotent: true,
    responses: { 201: ok('The stored certificate', certificateView) },
    errors: [httpErrors.certificate_expired, ...Object.values(certificateErrors)],
  },
  export: {
    ...one,
    at: 'GET /v1/certificates/{ispb}/{type}/{version}/export',
    act: 'certificates.export',
    operation: 'exportCertificate',
    summary: 'Exports a certificate with its chain, and its key where asked for, as PEM',
    query: exportQuery,
    responses: { 200: { description: 'PEM', contentType: 'application/x-pem-file' } },
    errors: Object.values(certificateErrors),
  },
  manifest: {
    ...one,
    at: 'GET /v1/certificates/{ispb}/{type}/{version}/manifest',
    act: 'certificates.export',
    operation: 'getCertificateManifest',
    summary: 'The Kubernetes secret of a certificate and its key',
    query: manifestQuery,
    responses: { 200: { description: 'YAML', contentType: 'application/yaml' } },
    errors: Object.values(certificateErrors),
  },
  remove: {
    ...guarded,
    at: 'DELETE /v1/certificates/{ispb}/{type}/{version}',
    operation: 'deleteCertificate',
    summary: 'Removes a certificate, named by its number',
    params: removedParams,
    exampleFrom: stored,
    responses: { 204: { description: 'Removed' } },
    errors: Object.values(certificateErrors),
  },
} as const satisfies Readonly<Record<string, RouteContract>>
