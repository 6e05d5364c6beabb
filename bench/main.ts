console.log('no benchmark yet')
