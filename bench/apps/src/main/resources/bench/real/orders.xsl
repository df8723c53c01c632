<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <!-- A web page with each customer's orders, the most expensive one first. -->
  <xsl:output method="html" encoding="UTF-8"/>
  <xsl:key name="of-customer" match="order" use="@customer"/>

  <xsl:template match="/orders">
    <html>
      <body>
        <xsl:for-each select="order[generate-id() = generate-id(key('of-customer', @customer)[1])]">
          <xsl:sort select="@customer"/>
          <h2><xsl:value-of select="@customer"/></h2>
          <table>
            <xsl:apply-templates select="key('of-customer', @customer)">
              <xsl:sort select="cents" data-type="number" order="descending"/>
            </xsl:apply-templates>
          </table>
          <p>Sum: <xsl:value-of select="sum(key('of-customer', @customer)/cents)"/></p>
        </xsl:for-each>
        <p>Total: <xsl:value-of select="sum(order/cents)"/></p>
      </body>
    </html>
  </xsl:template>

  <xsl:template match="order">
    <tr class="order">
      <td><xsl:number value="position()" format="i"/></td>
      <td><xsl:value-of select="@id"/></td>
      <td><xsl:value-of select="translate(item, 'abcdef', 'ABCDEF')"/></td>
      <td><xsl:value-of select="format-number(cents div 100, '#,##0.00')"/></td>
    </tr>
  </xsl:template>
</xsl:stylesheet>
