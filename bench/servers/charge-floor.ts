/*
 * The least work of a server that stores charges durably and signs what stands at a location: one row, one commit; one
 * read, one RS256 signature. It knows no keys, receivers, rules or accounts.
 *
 *   bun bench/servers/charge-floor.ts <dsn>
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'
import postgres from 'postgres'

const sql = postgres(process.argv[2] ?? '', { max: 10, onnotice: () => {} })
await sql`create table floor_charges (token text primary key, body text not null)`

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const signAside = promisify(sign)
const header = Buffer.from('{"alg":"RS256"}').toString('base64url')

const store = async (request: Request): Promise<Response> => {
  const token = randomBytes(16).toString('hex')
  const body = JSON.stringify(await request.json())
  await sql`insert into floor_charges (token, body) values (${token}, ${body})`
  return Response.json({ location: token }, { status: 201 })
}

const show = async (token: string): Promise<Response> => {
  const [row] = await sql<{ body: string }[]>`
    select body from floor_charges where token = ${token}`
  const content = `${header}.${Buffer.from(row?.body ?? '').toString('base64url')}`
  const signature = await signAside('RSA-SHA256', Buffer.from(content), privateKey)
  return new Response(`${content}.${signature.toString('base64url')}`)
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) =>
    request.method === 'GET' ? show(new URL(request.url).pathname.slice(1)) : store(request),
})
console.log(server.url.origin)
