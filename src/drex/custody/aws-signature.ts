/** AWS Signature Version 4, of a POST to `/` as the JSON services take it; pure. */
import { createHash, createHmac } from 'node:crypto'

export type AwsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Temporary credentials have one. */
  readonly sessionToken: string | undefined
}

export type AwsRequest = {
  readonly url: URL
  readonly region: string
  readonly service: string
  /** Names in lower case; `host`, the date and the token are added. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const algorithm = 'AWS4-HMAC-SHA256'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/** @returns all headers but `host`, with `authorization` */
export const signAwsRequest = (
  { url, region, service, headers, body }: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  now: Date,
): Readonly<Record<string, string>> => {
  // 20260131T235959Z
  const stamp = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const sent: Record<string, string> = {
    ...headers,
    'x-amz-date': stamp,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const signed = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    'POST',
    '/',
    '',
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = [algorithm, stamp, scope, sha256(canonical)].join('\n')
  const key = [region, service, 'aws4_request'].reduce<Uint8Array>(
    hmac,
    hmac(`AWS4${secretAccessKey}`, day),
  )
  const signature = hmac(key, toSign).toString('hex')
  return {
    ...sent,
    authorization: `${algorithm} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}
