/** A bare server: it parses the body, if there is one, and answers as many bytes as an authorization has. */
const answer = JSON.stringify({ id: 'txn_', filler: 'x'.repeat(700) })
const headers = { 'Content-Type': 'application/json' }

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    if (request.method === 'GET') return new Response(answer, { headers })
    const body = JSON.parse(await request.text()) as { readonly amount: number }
    return new Response(answer, { headers, status: body.amount > 0 ? 201 : 400 })
  },
})
console.log(server.url.origin)
