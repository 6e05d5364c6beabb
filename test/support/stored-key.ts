/** An Idempotency-Key as the table holds it: HMAC-SHA256 under the account. */
export const storedKey = (sent: string, account = 'default'): string =>
  new Bun.CryptoHasher('sha256', account).update(sent).digest('base64url')
